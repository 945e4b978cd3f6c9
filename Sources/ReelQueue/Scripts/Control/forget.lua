-- forget: removes every key of an ended job.
--
-- args     1 job  2 name of the process that `leave` told to remove the job, else ''
-- Reply    'ok' (also if there is no such job, or another process removes it by now), or the state of a job that has
--          not ended
-- Keeps    the job's hash goes before its parts: torn, the call leaves parts of a job that is not there, which expire
--          or are removed when the job begins anew. The job is in `jobs` until its last key is gone. Reap removes
--          leases that are still held.
removal('forget', function(args)
  local id = args[1]
  local state = redis.call('HGET', job_key(id), 'state')

  if state and args[2] ~= '' and (not ENDED[state] or removal_of(id) ~= args[2]) then return 'ok' end
  if state and not ENDED[state] then return state end
  leave_ended(id)
  redis.call('ZREM', key('broken'), id)
  withhold_webhooks(id)
  redis.call('UNLINK', job_key(id))
  for _, part in ipairs(PARTS) do redis.call('UNLINK', job_key(id, part)) end
  redis.call('ZREM', key('jobs'), id)
  recount(id, true)
  return 'ok'
end)
