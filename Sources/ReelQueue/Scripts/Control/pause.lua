-- pause: pauses a job, or resumes it.
--
-- args     1 job  2 '1' to pause, '0' to resume  3 retention (ms)
-- Reply    the job's state, or nil if there is no such job; a job that has ended does not change
-- Keeps    no pass of a paused job is given out; its held passes are worked on to their end.
transition('pause', function(args)
  local id, pause, retention = args[1], args[2] == '1', tonumber(args[3])
  local state = redis.call('HGET', job_key(id), 'state')

  if not state or ENDED[state] then return state end
  if pause then
    redis.call('HSET', job_key(id), 'paused', 1)
    leave_line(id)
    redis.call('ZREM', key('timer'), id)
  else
    -- The job is in line before it is resumed: claim removes a paused job from there, but a job that is neither paused
    -- nor in line would wait for ever.
    line_up(id)
    redis.call('HDEL', job_key(id), 'paused')
    advance_state(id, retention)
  end
  recount(id)
  event(pause and 'paused' or 'unpaused', id)
  return state
end)
