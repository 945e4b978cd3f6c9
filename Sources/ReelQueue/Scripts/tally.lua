-- tally: writes the register `sum`, which readers had to add up themselves since something was lost.
--
-- args     1 job  2 finished passes that it sums, the assembly among them  3 frames decoded  4 frames encoded
--          5 peak resident memory (bytes)
-- Reply    1, or 0 where the number of finished passes is another by now
transition('tally', function(args)
  local id = args[1]
  if redis.call('HLEN', job_key(id, 'done')) ~= tonumber(args[2]) then return 0 end
  redis.call('HSET', job_key(id), 'sum', table.concat(args, ' ', 2))
  return 1
end)
