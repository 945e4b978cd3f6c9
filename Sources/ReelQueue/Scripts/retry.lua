-- retry: a failed job runs again.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 retention (ms)
-- Reply    'ok', the state of a job that has not failed, or nil where there is no such job
-- Keeps    finished passes stay finished; attempts start anew, and excluded hosts may try again.
local id, retention = ARGV[1], tonumber(ARGV[2])
local state = redis.call('HGET', job_key(id), 'state')

if state ~= 'failed' then return state end
run_again(id)
redis.call('HDEL', job_key(id), 'paused')
offer(id, now)
redis.call('HSET', job_key(id), 'state', 'running', 'cursor', 0, 'offered', now, 'finished', '', 'failure', '')
settle(id, retention)
event('resumed', id)
return 'ok'
