-- restore: records passes as finished whose segments the store has, while their job is published anew.
--
-- KEYS[1]  prefix
-- ARGV     1 job  then two per pass: index, token and result as JSON with a space between
-- Reply    the number recorded now; 0 where the job is not in state publishing
-- Keeps    `done` is written once per pass.
local id = ARGV[1]
if redis.call('HGET', job_key(id), 'state') ~= 'publishing' then return 0 end

local recorded_now = 0
for i = 2, #ARGV, 2 do
  keep_warnings(id, ARGV[i], ARGV[i + 1]:match('^%S+ (.*)$'))
  recorded_now = recorded_now + redis.call('HSETNX', job_key(id, 'done'), ARGV[i], ARGV[i + 1])
  redis.call('SETBIT', job_key(id, 'map'), ARGV[i], 1)
end
return recorded_now
