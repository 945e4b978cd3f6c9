-- upload: puts passes of a plan on the board, while their job is probing. Release 0.1.0 does so before `publish`.
--
-- args     1 job  2 token that holds the probe  3 lease (ms)  4 '1' for the first of several calls
--          then three per pass: index, kind, the pass as JSON
-- Reply    1, or 0 if the token does not hold the probe
-- Keeps    none of them can be claimed before `publish`. The first call removes what an earlier publisher left.
transition('upload', function(args)
  local id, token, lease = args[1], args[2], tonumber(args[3])

  if not extend_probe(id, token, lease) then return 0 end
  if args[4] == '1' then remove_results(id) end
  for i = 5, #args, 3 do
    redis.call('HSET', job_key(id, 'passes'), args[i], args[i + 1] .. ' ' .. args[i + 2])
  end
  return 1
end)
