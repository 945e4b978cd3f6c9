-- publish: makes a job runnable whose passes are all uploaded, or runs a failed or cancelled one again.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 what open answered  3 the job as JSON  4 need (bytes)  5 protocol version
--          6 encoder builds, one a line  7 virtual time that one claim costs  8 retention (ms)  9 frames
--          10 time to encode a frame, where decoding one takes 1  11 '1' where it is paused
-- Reply    'published', 'resumed', 'attached' (another publisher was first),
--          'ended' (cancelled since it was opened), 'incomplete' (passes are missing), 'unknown'
-- Keeps    a job runs only with all its passes there. Running again forgets failures and excluded hosts and looks at
--          every pass anew; finished passes stay finished.
local id, retention = ARGV[1], tonumber(ARGV[8])
local state, passes = unpack(redis.call('HMGET', job_key(id), 'state', 'passes'))
passes = tonumber(passes)

if not state then return 'unknown' end
if CLAIMABLE[state] or state == 'done' then return 'attached' end
if ENDED[state] and ARGV[2] ~= 'ended' then return 'ended' end
if redis.call('HLEN', job_key(id, 'passes')) ~= passes then return 'incomplete' end

if ENDED[state] then run_again(id) end
if ARGV[11] == '1' then redis.call('HSET', job_key(id), 'paused', 1) else redis.call('HDEL', job_key(id), 'paused') end
offer(id, now)
redis.call('HSET', job_key(id), 'state', 'running', 'cursor', 0, 'offered', now, 'finished', '', 'failure', '', 'job', ARGV[3],
  'need', ARGV[4], 'protocol', ARGV[5], 'encoders', ARGV[6], 'share', ARGV[7], 'frames', ARGV[9], 'effort', ARGV[10])
settle(id, retention)
wake(passes)
event(ENDED[state] and 'resumed' or 'published', id)
return ENDED[state] and 'resumed' or 'published'
