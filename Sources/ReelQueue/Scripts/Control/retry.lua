-- retry: runs a failed job again.
--
-- args     1 job  2 retention (ms)  3 how often the job has begun again ('' or missing before version 10: unknown)
-- Reply    'ok', the state of a job that has not failed, or nil if there is no such job or it is being removed
-- Keeps    finished passes stay finished; attempts are counted anew, and excluded workers may try again. A job that
--          failed while probing is probing again.
transition('retry', function(args)
  local id, retention = args[1], tonumber(args[2])
  local state, refused = unpack(redis.call('HMGET', job_key(id), 'state', 'refused'))

  if state ~= 'failed' then return state end
  if removal_of(id) then return false end
  run_again(id)
  if refused == '1' then redis.call('ZADD', job_key(id, 'retry'), now, PROBE) end
  redis.call('HDEL', job_key(id), 'paused')
  if (args[3] or '') ~= '' then redis.call('HSET', job_key(id), 'run', args[3]) end
  schedule(id, now)
  redis.call('HSET', job_key(id), 'state', refused == '1' and 'probing' or 'running', 'cursor', 0, 'offered', now,
    'finished', '', 'how', '', 'failed', '', 'reason', '')
  advance_state(id, retention)
  recount(id)
  event('resumed', id)
  return 'ok'
end)
