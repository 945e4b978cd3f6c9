-- drain: has a worker drain; it learns so at its next beat.
--
-- KEYS[1]  prefix
-- ARGV     1 worker
-- Reply    1, or 0 where there is no such worker
if not redis.call('ZSCORE', key('workers'), ARGV[1]) then return 0 end
redis.call('HSET', key('control'), 'drain:' .. ARGV[1], 1)
return 1
