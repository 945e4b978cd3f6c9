-- leave: one that waited for a job waits no longer, and perhaps takes it along.
--
-- args     1 job  2 who waited  3 token of its claim on the probe, '' where it has none
--          4 '1' where it wants the job removed that has come to nothing  5 lease (ms)  6 retention (ms)
-- Reply    'stays', or 'remove': the job has ended and cannot begin again until `forget`, or until a lease has lapsed
-- Keeps    a job is removed that failed while probing, by the last that waits for it; or one that is probing, by the
--          only one that waits for it, where nobody else probes. Any other probe that the token holds is handed back
--          uncharged.
transition('leave', function(args)
  local id, waiter, token, abandons = args[1], args[2], args[3], args[4] == '1'
  local lease, retention = tonumber(args[5]), tonumber(args[6])
  local state, refused = unpack(redis.call('HMGET', job_key(id), 'state', 'refused'))

  redis.call('ZREM', job_key(id, 'waiters'), waiter)
  redis.call('ZREMRANGEBYSCORE', job_key(id, 'waiters'), '-inf', now)
  local is_last = redis.call('ZCARD', job_key(id, 'waiters')) == 0
  local by = holder(id, PROBE)

  -- Asked again by the same, since its reply was lost, it says so again.
  local remover = removal_of(id)
  if ENDED[state] and remover == waiter then return 'remove' end
  if state == 'failed' and refused == '1' and is_last and not remover then
    redis.call('HSET', job_key(id), 'removing', waiter .. ' ' .. text(now + lease))
    return 'remove'
  end
  if state ~= 'probing' then return 'stays' end
  if abandons and is_last and (not by or by == token) then
    -- Torn before its end, this is a mark that nobody asks for while the job has not ended.
    redis.call('HSET', job_key(id), 'removing', waiter .. ' ' .. text(now + lease))
    end_job(id, 'cancelled', retention)
    if by then drop(id, PROBE, by) end
    return 'remove'
  end
  if by and by == token then hand_back(id, PROBE, token, state) end
  return 'stays'
end)
