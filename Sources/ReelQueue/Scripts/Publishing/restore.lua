-- restore: while a job is probing, records results of passes whose segments are in the store. Release 0.1.0 does so
-- before `publish`.
--
-- args     1 job  2 token that holds the probe  3 lease (ms)
--          then three per pass: index, token and result as JSON with a space between, its diagnostics as JSON, one a
--          line
-- Reply    1, or 0 if the token does not hold the probe
-- Keeps    `done` is written once per pass.
transition('restore', function(args)
  local id, token, lease = args[1], args[2], tonumber(args[3])

  if not extend_probe(id, token, lease) then return 0 end
  for i = 4, #args, 3 do
    add_diagnostics(id, args[i], args[i + 2])
    redis.call('HSETNX', job_key(id, 'done'), args[i], args[i + 1])
    redis.call('SETBIT', job_key(id, 'map'), args[i], 1)
  end
  return 1
end)
