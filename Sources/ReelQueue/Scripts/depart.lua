-- depart: takes a worker that ends out of the registry. What it still holds stays its own until that lapses.
--
-- args     1 worker
-- Reply    'ok'
-- Keeps    what is torn is a worker that is no longer listed.
removal('depart', function(args)
  redis.call('ZREM', key('workers'), args[1])
  redis.call('HDEL', key('control'), 'drain:' .. args[1])
  redis.call('DEL', worker_key(args[1]))
  return 'ok'
end)
