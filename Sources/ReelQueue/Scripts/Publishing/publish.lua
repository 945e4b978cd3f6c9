-- publish: makes a job runnable after all its passes are uploaded, and ends its probe.
--
-- args     1 job  2 token that holds the probe  3 the job as JSON  4 plan  5 passes without the assembly
--          6 need (bytes)  7 protocol version  8 encoder builds, one a line  9 virtual time that one claim costs
--          10 retention (ms)  11 frames  12 time to encode a frame, if decoding one takes 1
--          13 '1' to publish the job paused
-- Reply    'published' (also if this token did it before), 'lost' (it does not hold the probe, or there is no such
--          job), 'cancelled', 'incomplete' (passes are missing)
-- Keeps    a job runs only if all its passes are there. A job that was paused while probing stays paused.
transition('publish', function(args)
  local id, token, passes, retention = args[1], args[2], tonumber(args[5]), tonumber(args[10])
  local state, publisher = unpack(redis.call('HMGET', job_key(id), 'state', 'publisher'))

  if state ~= 'probing' then
    if publisher == token then return 'published' end
    return state == 'cancelled' and 'cancelled' or 'lost'
  end
  if holder(id, PROBE) ~= token then return 'lost' end
  if redis.call('HLEN', job_key(id, 'passes')) ~= passes then return 'incomplete' end

  if args[13] == '1' then
    redis.call('HSET', job_key(id), 'paused', 1)
    leave_line(id)
  end
  if redis.call('HGET', job_key(id), 'noted') == PROBE then
    redis.call('HDEL', job_key(id), 'note', 'noting', 'noted')
  end
  redis.call('ZREM', job_key(id, 'retry'), PROBE)
  redis.call('ZREM', key('timer'), id)
  schedule(id, now)
  redis.call('HSET', job_key(id), 'state', 'running', 'cursor', 0, 'offered', now, 'job', args[3], 'plan', args[4],
    'passes', passes, 'need', args[6], 'protocol', args[7], 'encoders', args[8], 'share', args[9], 'frames', args[11],
    'effort', args[12], 'publisher', token)
  reweigh(id)
  remove_holder(id, PROBE, token)
  advance_state(id, retention)
  wake(passes)
  event('published', id)
  count({ 'attempts:done', 1, 0, 0 })
  return 'published'
end)
