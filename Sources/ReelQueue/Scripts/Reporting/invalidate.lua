-- invalidate: takes back results that have proved wrong, so that their passes are done again.
--
-- args     1 job  2 plan  3 the worker that found it  4 reason as JSON  5 retention (ms)
--          then two per pass: index, token of the result that is wrong
-- Reply    the number of results that were taken back
-- Keeps    only the named token's result is taken back, and that token records no other. A pass is in `retry`, and its
--          job in line and running, before it leaves `done`. Each pass is charged with a transient failure, so repeated
--          wrong results fail the job. If the job has failed, results are taken back and nothing else changes, since
--          the function `retry` looks at all passes anew.
transition('invalidate', function(args)
  local id, plan, worker, reason, retention = args[1], args[2], args[3], args[4], tonumber(args[5])
  local state, current, passes = unpack(redis.call('HMGET', job_key(id), 'state', 'plan', 'passes'))

  if plan ~= current or not CLAIMABLE[state] and state ~= 'failed' then return 0 end
  local wrong = {}
  for i = 6, #args, 2 do
    local index, token = args[i], args[i + 1]
    if tonumber(index) < tonumber(passes) and recorded_by(id, index) == token then
      table.insert(wrong, { index = index, token = token })
    end
  end
  if #wrong == 0 then return 0 end

  local exhausted, attempts
  for _, pass in ipairs(wrong) do
    redis.call('HSET', job_key(id, 'returned'), pass.index, pass.token)
    if CLAIMABLE[state] then
      local again, failed = charge(id, pass.index, 'transient', worker, pass.token, reason)
      if not again then exhausted, attempts = pass.index, failed end
      redis.call('ZADD', job_key(id, 'retry'), now, pass.index)
    end
  end
  if CLAIMABLE[state] then
    schedule(id, now)
    redis.call('HSET', job_key(id), 'state', 'running')
    -- An assembly that is held goes on like one that began early: it waits for the passes.
    redis.call('ZREM', job_key(id, 'retry'), passes)
  end
  redis.call('HDEL', job_key(id), 'sum')
  for _, pass in ipairs(wrong) do
    redis.call('HDEL', job_key(id, 'done'), pass.index)
    redis.call('SETBIT', job_key(id, 'map'), pass.index, '0')
    event('invalidated', id, pass.index, worker)
  end
  if exhausted then
    fail_job(id, retention, 'exhausted', exhausted, attempts, worker, reason)
  else
    recount(id)
    wake(#wrong)
  end
  return #wrong
end)
