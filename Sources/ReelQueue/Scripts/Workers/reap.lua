-- reap: requeues passes whose leases have lapsed, charges them as lost, finishes torn transitions, and tidies a part of
-- the board.
--
-- args     1 lease (ms)  2 retention (ms)
-- Reply    {passes requeued, leases looked at}; a call looks at REAPED leases at most: if it did, call again
-- Keeps    a pass is in `retry` before it leaves `live`. For one lease after Redis started, after its clock was set, or
--          after no process reaped for a lease, nothing is reaped, so that live workers' beats come first. Times
--          that lie too far ahead since the clock was set back are brought near.
transition('reap', function(args)
  local lease, retention = tonumber(args[1]), tonumber(args[2])
  local last, grace = unpack(redis.call('HMGET', key('control'), 'reaped', 'grace'))
  last, grace = tonumber(last) or now, tonumber(grace) or now

  -- Lowers the times in a list that lie more than `most` milliseconds ahead.
  local function limit(list, most)
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', list, '(' .. text(now + most), '+inf')) do
      redis.call('ZADD', list, text(now + most), name)
    end
  end

  -- Moves the times in a list that lie ahead back by as much as the clock was set back.
  local function move_back(list, back)
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', list, '(' .. text(now), '+inf')) do
      local time = tonumber(redis.call('ZSCORE', list, name))
      redis.call('ZADD', list, text(math.max(now, math.min(time - back, now + 86400000))), name)
    end
  end

  local jump = now - last
  -- A beat is never ahead of the clock by which it was recorded, so it needs no jump to be told.
  limit(key('workers'), 0)
  if -jump > math.max(lease, 0) then
    -- Beats may have extended some leases since then, so leases are limited and not moved back.
    limit(key('lease'), lease)
    for _, list in ipairs({ 'timer', 'ready', 'later' }) do move_back(key(list), -jump) end
    for _, id in ipairs(redis.call('ZRANGE', key('active'), 0, -1)) do move_back(job_key(id, 'retry'), -jump) end
  end
  if has_just_started(lease) then
    redis.call('HSET', key('control'), 'reaped', text(now))
    return { 0, 0 }
  end
  if math.abs(jump) > math.max(lease, 0) then grace = now + lease end
  redis.call('HSET', key('control'), 'reaped', text(now), 'grace', text(grace))
  if now < grace then return { 0, 0 } end

  local requeued, charged = 0, 0

  local function take_back(id, index, token)
    local part, _, _, _, _, worker = held_part(id, index, token)
    if recorded_by(id, index) then
      advance_state(id, retention)
    elseif part and is_open(redis.call('HGET', job_key(id), 'state'), index) then
      local again, attempts = charge(id, index, 'lost', worker, token)
      charged = charged + 1
      if again then
        if requeue(id, index, now) then requeued = requeued + 1 end
        event('lost', id, index, worker)
      else
        fail_job(id, retention, 'lost', index, attempts, worker)
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
  if #lapsed > 0 then count({ 'leases:lost', #lapsed }, { 'attempts:lost', charged }) end

  -- Workers without a beat for SILENCE leave the registry.
  for _, worker in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), '-inf', now - SILENCE, 'LIMIT', 0, 100)) do
    redis.call('DEL', worker_key(worker))
    redis.call('HDEL', key('control'), 'drain:' .. worker)
    redis.call('ZREM', key('workers'), worker)
  end
  tidy()
  return { requeued, #lapsed }
end)
