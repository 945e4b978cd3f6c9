-- audited: notes that the board was audited after a start of Redis.
--
-- args     1 the start (its run_id), as `restarted` answered
-- Reply    'ok'
-- Keeps    losing it costs another audit.
transition('audited', function(args)
  redis.call('HSET', key('control'), 'audited', args[1])
  return 'ok'
end)
