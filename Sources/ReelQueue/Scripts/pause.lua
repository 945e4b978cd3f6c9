-- pause: holds a job back, or lets it go on.
--
-- args     1 job  2 '1' to pause, '0' to resume  3 retention (ms)
-- Reply    the job's state, or nil where there is no such job; in an ended one nothing changes
-- Keeps    nothing of a paused job is given out; what is held is worked on to its end.
transition('pause', function(args)
  local id, pause, retention = args[1], args[2] == '1', tonumber(args[3])
  local state = redis.call('HGET', job_key(id), 'state')

  if not state or ENDED[state] then return state end
  if pause then
    redis.call('HSET', job_key(id), 'paused', 1)
    withdraw(id)
    redis.call('ZREM', key('timer'), id)
  else
    -- In line first: claim takes a paused job out again, and one that is neither would wait for ever.
    join(id)
    redis.call('HDEL', job_key(id), 'paused')
    settle(id, retention)
  end
  event(pause and 'paused' or 'unpaused', id)
  return state
end)
