-- drain: has a worker drain; the worker learns of it at its next beat.
--
-- args     1 worker
-- Reply    1, or 0 if there is no such worker
transition('drain', function(args)
  if not redis.call('ZSCORE', key('workers'), args[1]) then return 0 end
  redis.call('HSET', key('control'), 'drain:' .. args[1], 1)
  return 1
end)
