-- leave: a process stops waiting for a job, and may be told to remove the job.
--
-- args     1 job  2 name of the process  3 token of its claim on the probe, '' if it has none
--          4 '1' if the process abandons the job, since it has no more use for it  5 lease (ms)  6 retention (ms)
-- Reply    'stays', or 'remove': the job has ended and cannot begin again until `forget`, or until a lease has passed
-- Keeps    the last process that waits removes a job that failed while probing. A process that abandons a job that is
--          still probing removes it if no other process waits for it or probes it. Otherwise a probe that the token
--          holds is handed back uncharged.
transition('leave', function(args)
  local id, waiter, token, abandons = args[1], args[2], args[3], args[4] == '1'
  local lease, retention = tonumber(args[5]), tonumber(args[6])
  local state, refused = unpack(redis.call('HMGET', job_key(id), 'state', 'refused'))

  redis.call('ZREM', job_key(id, 'waiters'), waiter)
  redis.call('ZREMRANGEBYSCORE', job_key(id, 'waiters'), '-inf', now)
  local is_last = redis.call('ZCARD', job_key(id, 'waiters')) == 0
  local by = holder(id, PROBE)

  -- A remover whose reply was lost asks again and gets the same answer.
  local remover = removal_of(id)
  if ENDED[state] and remover == waiter then return 'remove' end
  if state == 'failed' and refused == '1' and is_last and not remover then
    redis.call('HSET', job_key(id), 'removing', waiter .. ' ' .. text(now + lease))
    return 'remove'
  end
  if state ~= 'probing' then return 'stays' end
  if abandons and is_last and (not by or by == token) then
    -- If the call is torn here, the mark stays on a job that has not ended, where it means nothing.
    redis.call('HSET', job_key(id), 'removing', waiter .. ' ' .. text(now + lease))
    end_job(id, 'cancelled', retention)
    if by then remove_holder(id, PROBE, by) end
    return 'remove'
  end
  if by and by == token then hand_back(id, PROBE, token, state) end
  return 'stays'
end)
