-- reap: requeues passes whose leases have lapsed, charges them as lost, and finishes torn transitions.
--
-- KEYS[1]  prefix
-- ARGV     1 lease (ms)  2 retention (ms)
-- Reply    {passes requeued, leases looked at}: 100 at a time, call again after 100
-- Keeps    a pass is in `retry` before it leaves `live`. For one lease after Redis started nothing is reaped: live
--          workers' beats come first.
local lease, retention = tonumber(ARGV[1]), tonumber(ARGV[2])
local uptime = tonumber(redis.call('INFO', 'server'):match('uptime_in_seconds:(%d+)'))
if uptime * 1000 <= lease then return { 0, 0 } end

local requeued = 0
local lapsed = redis.call('ZRANGEBYSCORE', key('lease'), '-inf', now, 'LIMIT', 0, 100)
for _, name in ipairs(lapsed) do
  local id, index, token = name:match('^(.+)/(-?%d+)/([^/]+)$')
  local part, _, _, _, _, worker = part_of(id, index, token)
  if recorded(id, index) then
    settle(id, retention)
  elseif part and is_open(redis.call('HGET', job_key(id), 'state'), index) then
    local again, count = charge(id, index, 'lost', worker, token)
    if again then
      if requeue(id, index, now) then requeued = requeued + 1 end
      event('lost', id, index, worker)
    else
      fail_job(id, retention, 'lost', index, count, worker)
    end
  end
  drop(id, index, token)
end

-- Workers that said nothing for an hour leave the registry.
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), '-inf', now - 3600000, 'LIMIT', 0, 100)) do
  redis.call('DEL', key('worker:' .. worker))
  redis.call('HDEL', key('control'), 'drain:' .. worker)
  redis.call('ZREM', key('workers'), worker)
end
return { requeued, #lapsed }
