-- release: a worker that drains hands a pass back.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 index  3 token
-- Reply    1, or 0 where the token does not hold the pass
-- Keeps    no attempt is charged; only the holder can release.
local id, index, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local held = part_of(id, index, token) ~= nil

if held and CLAIMABLE[redis.call('HGET', job_key(id), 'state')] and not recorded(id, index) then
  redis.call('HSET', job_key(id, 'returned'), index, token)
  requeue(id, index, now)
  event('released', id, index)
end
drop(id, index, token)
return held and 1 or 0
