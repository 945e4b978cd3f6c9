-- cancel: ends a job that has not ended.
--
-- args     1 job  2 retention (ms)
-- Reply    1, or 0 if there is no such job or it has ended
-- Keeps    no pass of the job is given out any more; holders learn of it at their next beat. A job that cannot be read
--          can be cancelled, too.
transition('cancel', function(args)
  local id, retention = args[1], tonumber(args[2])
  local state = redis.pcall('HGET', job_key(id), 'state')

  if type(state) == 'table' then
    if not state.err:find('WRONGTYPE', 1, true) then return state end
    redis.call('UNLINK', job_key(id))
  elseif ENDED[state] or not state and redis.call('EXISTS', job_key(id)) == 0 then
    return 0
  end
  end_job(id, 'cancelled', retention)
  redis.call('ZREM', key('broken'), id)
  return 1
end)
