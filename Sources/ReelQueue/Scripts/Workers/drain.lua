-- drain: has a worker, or all workers of a host, be given nothing, or takes that back.
--
-- args     1 worker or host  2 'worker' or 'host', absent from programs of version 2: 'worker'
--          3 '1' to drain, '0' to take it back; absent: '1'
-- Reply    1, or 0 if there is no such worker, or nothing to take back
-- Keeps    a worker is drained until it leaves the registry, a host until that is taken back. Held passes are worked on
--          to their end.
transition('drain', function(args)
  local name, of_host, undrains = args[1], args[2] == 'host', args[3] == '0'
  local field = (of_host and 'drain-host:' or 'drain:') .. name

  if undrains then return redis.call('HDEL', key('control'), field) end
  if not of_host and not redis.call('ZSCORE', key('workers'), name) then return 0 end
  redis.call('HSET', key('control'), field, 1)
  return 1
end)
