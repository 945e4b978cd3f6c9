-- attend: a sign of life of one that waits for a job, and of the probe that it may hold. It registers no worker.
--
-- args     1 job  2 who waits  3 token of its claim on the probe, '' where it has none  4 lease (ms)  5 retention (ms)
-- Reply    nil where there is no such job, else {state, 1 where the token holds the probe, 1 where the probe is free}
-- Keeps    only the probe's holder extends its lease. A probe is free that nobody holds and that waits for no retry, of
--          a job that is not paused.
transition('attend', function(args)
  local id, waiter, token, lease, retention = args[1], args[2], args[3], tonumber(args[4]), tonumber(args[5])
  local state, paused = unpack(redis.call('HMGET', job_key(id), 'state', 'paused'))

  if not state then return false end
  local holds = keep_probe(id, token, lease)
  redis.call('ZADD', job_key(id, 'waiters'), text(now + lease), waiter)
  if ENDED[state] then redis.call('PEXPIRE', job_key(id, 'waiters'), retention) end
  local due = redis.call('ZSCORE', job_key(id, 'retry'), PROBE)
  local free = state == 'probing' and not paused and not holder(id, PROBE) and tonumber(due or 0) <= now
  return { state, holds and 1 or 0, free and 1 or 0 }
end)
