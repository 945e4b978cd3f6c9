-- forget: removes every key of an ended job.
--
-- KEYS[1]  prefix
-- ARGV     1 job
-- Reply    'ok' (also where there is no such job), or the state of a job that has not ended
-- Keeps    a job is in `jobs` until its last key is gone. Leases still held are dropped by beats and reap.
local id = ARGV[1]
local state = redis.call('HGET', job_key(id), 'state')

if state and not ENDED[state] then return state end
for _, part in ipairs(PARTS) do redis.call('UNLINK', job_key(id, part)) end
redis.call('UNLINK', job_key(id))
redis.call('ZREM', key('failed'), id)
redis.call('ZREM', key('jobs'), id)
return 'ok'
