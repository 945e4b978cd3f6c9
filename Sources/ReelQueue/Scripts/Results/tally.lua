-- tally: writes `sum` after its caller has added up the results, because the totals on the board had fallen behind.
--
-- args     1 job  2 number of results added up, the assembly's among them  3 frames decoded  4 frames encoded
--          5 peak resident memory (bytes)  6 CPU time (ms)
-- Reply    1, or 0 if the number of finished passes has changed meanwhile
transition('tally', function(args)
  local id = args[1]
  if redis.call('HLEN', job_key(id, 'done')) ~= tonumber(args[2]) then return 0 end
  redis.call('HSET', job_key(id), 'sum', table.concat(args, ' ', 2))
  return 1
end)
