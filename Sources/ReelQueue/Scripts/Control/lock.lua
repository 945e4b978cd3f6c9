-- lock: takes a lock for a limited time. A store without locks of its own has its writers take turns so.
--
-- args     1 name  2 token of the holder  3 lease (ms)  4 '1' if the holder wants to have it for longer, else ''
-- Reply    1, or 0 if another token has it, or if its holder has it no more
-- Keeps    a lock lapses if its holder does not let it go. A holder whose lock has lapsed does not get it back: another
--          may have had it in between.
transition('lock', function(args)
  local name, token, lease, again = prefix .. 'lock:' .. args[1], args[2], args[3], args[4] == '1'
  local found = redis.call('GET', name)

  if again and found ~= token or not again and found then return 0 end
  redis.call('SET', name, token, 'PX', lease)
  return 1
end)
