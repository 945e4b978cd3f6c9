-- lock: takes a lock for a limited time. A store without locks of its own has its writers take turns so.
--
-- args     1 name  2 token of the holder  3 lease (ms)
-- Reply    1, or 0 if another token has it
-- Keeps    a lock lapses if its holder does not let it go. Its holder may take it again, to have it for longer.
transition('lock', function(args)
  local name, token, lease = prefix .. 'lock:' .. args[1], args[2], args[3]
  local holder = redis.call('GET', name)

  if holder and holder ~= token then return 0 end
  redis.call('SET', name, token, 'PX', lease)
  return 1
end)
