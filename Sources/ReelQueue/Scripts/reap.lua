-- reap: requeues passes whose leases have lapsed, charges them as lost, and finishes torn transitions.
--
-- args     1 lease (ms)  2 retention (ms)
-- Reply    {passes requeued, leases looked at}; a call looks at REAPED leases at most: if it did, call again
-- Keeps    a pass is in `retry` before it leaves `live`. For one lease after Redis started, after its clock was set, or
--          after no process reaped for a lease, nothing is reaped, so that live workers' beats come first. If the clock
--          was set back, times that now lie too far ahead are brought near.
transition('reap', function(args)
  local lease, retention = tonumber(args[1]), tonumber(args[2])
  -- The uptime is negative if the clock was set back after the start.
  local uptime = tonumber(redis.call('INFO', 'server'):match('uptime_in_seconds:(-?%d+)'))
  local last, grace = unpack(redis.call('HMGET', key('control'), 'reaped', 'grace'))
  last, grace = tonumber(last) or now, tonumber(grace) or now

  -- Lowers those of a list's scores that lie ahead by `back` milliseconds, so that none is more than `most` ahead.
  local function bring_near(list, most, back)
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', list, '(' .. text(now), '+inf')) do
      local score = tonumber(redis.call('ZSCORE', list, name))
      redis.call('ZADD', list, text(math.max(now, math.min(score - back, now + most))), name)
    end
  end

  local jump = now - last
  if -jump > math.max(lease, 0) then
    bring_near(key('workers'), 0, 0)
    -- Beats may have extended some leases since then, so leases are limited and not shifted.
    bring_near(key('lease'), lease, 0)
    bring_near(key('timer'), 86400000, -jump)
    for _, id in ipairs(redis.call('ZRANGE', key('active'), 0, -1)) do
      bring_near(job_key(id, 'retry'), 86400000, -jump)
    end
  end
  if uptime >= 0 and uptime * 1000 <= lease then
    redis.call('HSET', key('control'), 'reaped', text(now))
    return { 0, 0 }
  end
  if math.abs(jump) > math.max(lease, 0) then grace = now + lease end
  redis.call('HSET', key('control'), 'reaped', text(now), 'grace', text(grace))
  if now < grace then return { 0, 0 } end

  local requeued = 0

  local function take_back(id, index, token)
    local part, _, _, _, _, worker = held_part(id, index, token)
    if recorded_by(id, index) then
      advance_state(id, retention)
    elseif part and is_open(redis.call('HGET', job_key(id), 'state'), index) then
      local again, count = charge(id, index, 'lost', worker, token)
      if again then
        if requeue(id, index, now) then requeued = requeued + 1 end
        event('lost', id, index, worker)
      else
        fail_job(id, retention, 'lost', index, count, worker)
      end
    end
    remove_holder(id, index, token)
  end

  local lapsed = redis.call('ZRANGEBYSCORE', key('lease'), '-inf', now, 'LIMIT', 0, REAPED)
  for _, name in ipairs(lapsed) do
    local id, index, token = name:match('^(.+)/(-?%d+)/([^/]+)$')
    if id then isolated(id, take_back, index, token) end
    -- If the job was set aside just now, its lease is still there.
    redis.call('ZREM', key('lease'), name)
  end

  -- Workers without a beat for SILENCE leave the registry.
  for _, worker in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), '-inf', now - SILENCE, 'LIMIT', 0, 100)) do
    redis.call('DEL', worker_key(worker))
    redis.call('HDEL', key('control'), 'drain:' .. worker)
    redis.call('ZREM', key('workers'), worker)
  end
  return { requeued, #lapsed }
end)
