-- disprove: has a job probed again, for another plan, after the holder of a pass found that the plan does not match the
-- source.
--
-- args     1 job  2 index  3 token  4 worker  5 plan  6 the job as JSON, without a plan  7 need of the probe (bytes)
--          8 virtual time that one claim costs
-- Reply    'probing', or 'late' (the token does not hold the pass, or the job has ended or has another plan)
-- Keeps    no pass of the old plan can be claimed, extended or recorded any more; its holders learn of that at their
--          next beat. The job is in line before its state says probing; torn, the call leaves a probe that is free.
transition('disprove', function(args)
  local id, index, token, worker, plan = args[1], args[2], args[3], args[4], args[5]
  local state, current = unpack(redis.call('HMGET', job_key(id), 'state', 'plan'))

  -- A probe has no plan that could prove wrong.
  if state and plan ~= current or index == PROBE then return 'late' end
  if not CLAIMABLE[state] or not held_part(id, index, token) or recorded_by(id, index) then
    remove_holder(id, index, token)
    return 'late'
  end

  schedule(id, now)
  redis.call('HSET', job_key(id), 'state', 'probing', 'job', args[6], 'passes', 0, 'plan', 0, 'need', args[7],
    'encoders', '', 'share', args[8], 'frames', 0, 'effort', 1, 'cursor', 0, 'offered', now)
  reweigh(id)
  redis.call('DEL', job_key(id, 'retry'))
  redis.call('ZADD', job_key(id, 'retry'), now, PROBE)
  redis.call('HDEL', job_key(id), 'sound', 'hash', 'note', 'noting', 'noted', 'copied', 'publisher', 'taken')
  redis.call('ZREM', key('tail'), id)
  for _, part in ipairs({ 'live', 'copies' }) do
    local held = redis.call('HGETALL', job_key(id, part))
    redis.call('DEL', job_key(id, part))
    for i = 1, #held, 2 do redis.call('ZREM', key('lease'), lease_name(id, held[i], token_of(held[i + 1]))) end
  end
  remove_results(id)
  for _, part in ipairs({ 'fails', 'returned', 'times' }) do redis.call('UNLINK', job_key(id, part)) end
  recount(id)
  event('disproved', id, index, worker)
  return 'probing'
end)
