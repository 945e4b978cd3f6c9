-- depart: removes a worker that ends from the registry. It keeps the passes that it holds until their leases lapse.
--
-- args     1 worker
-- Reply    'ok'
-- Keeps    the worker leaves the list first: torn, the call leaves keys of a worker that is no longer listed.
removal('depart', function(args)
  redis.call('ZREM', key('workers'), args[1])
  redis.call('HDEL', key('control'), 'drain:' .. args[1])
  redis.call('DEL', worker_key(args[1]))
  return 'ok'
end)
