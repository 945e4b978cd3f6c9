-- unlock: lets a lock go.
--
-- args     1 name  2 token of the holder
-- Reply    1, or 0 if the token does not have it any more
transition('unlock', function(args)
  local name = prefix .. 'lock:' .. args[1]

  if redis.call('GET', name) ~= args[2] then return 0 end
  redis.call('UNLINK', name)
  return 1
end)
