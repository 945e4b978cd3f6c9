-- attend: the sign of life of a process that waits for a job and may hold its probe. It registers no worker.
--
-- args     1 job  2 name of the process  3 token of its claim on the probe, '' if it has none  4 lease (ms)
--          5 retention (ms)
-- Reply    nil if there is no such job, else {state, 1 if the token holds the probe else 0, 1 if the probe is free
--          else 0}
-- Keeps    only the probe's holder extends its lease. The probe is free if it has no holder, waits for no retry, and
--          its job is not paused. A process that has not called for a lease leaves the list of waiting ones.
transition('attend', function(args)
  local id, waiter, token, lease, retention = args[1], args[2], args[3], tonumber(args[4]), tonumber(args[5])
  local state, paused = unpack(redis.call('HMGET', job_key(id), 'state', 'paused'))

  if not state then return false end
  local holds = extend_probe(id, token, lease)
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', job_key(id, 'waiters'), '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', job_key(id, 'waiters'), gone)
  end
  redis.call('ZADD', job_key(id, 'waiters'), text(now + lease), waiter)
  if ENDED[state] then redis.call('PEXPIRE', job_key(id, 'waiters'), retention) end
  local due = redis.call('ZSCORE', job_key(id, 'retry'), PROBE)
  local free = state == 'probing' and not paused and not holder(id, PROBE) and tonumber(due or 0) <= now
  return { state, holds and 1 or 0, free and 1 or 0 }
end)
