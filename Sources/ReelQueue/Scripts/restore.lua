-- restore: records passes as finished whose segments the store has, while their job is probing.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 token that holds the probe  3 lease (ms)
--          then three per pass: index, token and result as JSON with a space between, its diagnostics as JSON, one a
--          line
-- Reply    1, or 0 where the token does not hold the probe
-- Keeps    `done` is written once per pass.
local id, token, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

if not keep_probe(id, token, lease) then return 0 end
for i = 4, #ARGV, 3 do
  keep_diagnostics(id, ARGV[i], ARGV[i + 2])
  redis.call('HSETNX', job_key(id, 'done'), ARGV[i], ARGV[i + 1])
  redis.call('SETBIT', job_key(id, 'map'), ARGV[i], 1)
end
return 1
