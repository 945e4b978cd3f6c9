-- restarted: gives one worker the audit that follows a start of Redis.
--
-- args     1 how long the worker may take before another gets it (ms)
-- Reply    the start of Redis (its run_id) if the caller is to audit; nil if the board was audited, or is being audited
-- Keeps    an audit after an earlier start does not count, and one whose worker died is given out again.
transition('restarted', function(args)
  local run = redis.call('INFO', 'server'):match('run_id:(%x+)')

  if redis.call('HGET', key('control'), 'audited') == run or redis.call('GET', key('auditing')) == run then
    return false
  end
  redis.call('SET', key('auditing'), run, 'PX', args[1])
  return run
end)
