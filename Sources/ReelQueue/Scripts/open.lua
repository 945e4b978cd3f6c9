-- open: makes a job in state publishing, ready to take its passes, or says what is there already.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 the job as JSON  3 passes without the assembly  4 need (bytes)  5 protocol version
--          6 encoder builds, one a line  7 virtual time that one claim costs  8 retention (ms)  9 frames
--          10 time to encode a frame, where decoding one takes 1
-- Reply    'open'      in state publishing, upload the passes and call publish
--          'ended'     failed or cancelled with the same number of passes: upload them and publish to run it again
--          'attached'  running, assembling or done
--          'differs'   failed or cancelled, and of another number of passes
-- Keeps    nothing of a job in state publishing can be claimed; what an interrupted publisher left is gone on with.
local id, passes, retention = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[8])
local state, count, created = unpack(redis.call('HMGET', job_key(id), 'state', 'passes', 'created'))

if state == 'failed' or state == 'cancelled' then
  return tonumber(count) == passes and 'ended' or 'differs'
elseif state and state ~= 'publishing' then
  return 'attached'
end

-- Jobs whose keys have expired leave the list of jobs.
for _, old in ipairs(redis.call('ZRANGEBYSCORE', key('jobs'), '-inf', now - retention, 'LIMIT', 0, 100)) do
  if redis.call('EXISTS', job_key(old)) == 0 then
    redis.call('ZREM', key('failed'), old)
    redis.call('ZREM', key('jobs'), old)
  end
end

if not state then
  for _, part in ipairs(PARTS) do redis.call('DEL', job_key(id, part)) end
elseif tonumber(count) ~= passes then
  redis.call('DEL', job_key(id, 'passes'))
end
redis.call('ZADD', key('jobs'), 'NX', now, id)
redis.call('ZADD', key('active'), 'NX', now, id)
redis.call('HSET', job_key(id), 'state', 'publishing', 'job', ARGV[2], 'passes', passes, 'need', ARGV[4],
  'protocol', ARGV[5], 'encoders', ARGV[6], 'share', ARGV[7], 'frames', ARGV[9], 'effort', ARGV[10], 'cursor', 0,
  'created', created or now)
return 'open'
