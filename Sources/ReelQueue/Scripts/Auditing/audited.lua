-- audited: notes that the board was audited after a start of Redis.
--
-- args     1 the run_id of that start, as `restarted` answered
-- Reply    'ok'
-- Keeps    if the note is lost, a worker audits the board once more.
transition('audited', function(args)
  redis.call('HSET', key('control'), 'audited', args[1])
  return 'ok'
end)
