-- cancel: ends a job that has not ended.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 retention (ms)
-- Reply    1, or 0 where there is no such job or it has ended
-- Keeps    nothing of it is given out any more; holders learn of it at their next beat.
local id, retention = ARGV[1], tonumber(ARGV[2])
local state = redis.call('HGET', job_key(id), 'state')

if not state or ENDED[state] then return 0 end
end_job(id, 'cancelled', retention)
return 1
