-- depart: takes a worker that ends out of the registry. What it still holds stays its own until that lapses.
--
-- KEYS[1]  prefix
-- ARGV     1 worker
-- Reply    'ok'
-- Keeps    what is torn is a worker that is no longer listed.
redis.call('ZREM', key('workers'), ARGV[1])
redis.call('HDEL', key('control'), 'drain:' .. ARGV[1])
redis.call('DEL', key('worker:' .. ARGV[1]))
return 'ok'
