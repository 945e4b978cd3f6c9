-- audit: compares the keys of one job with each other, and repairs contradictions. It throws nothing away: a pass that
-- is in no key is requeued.
--
-- args     1 job  2 index to begin at  3 lease (ms)  4 retention (ms)
-- Reply    {repairs, index to go on from, or -1 after the last}; a call looks at 1000 passes
-- Keeps    if a job is probing, its probe is held with a lease or in `retry`. Of other jobs each pass is in `done`, or
--          held with a lease, or in `retry`, or at the cursor or behind it. A job with work is in `run` or `timer`, an
--          ended job in neither, but on the list of its state.
transition('audit', function(args)
  local id, from, lease, retention = args[1], tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  local fields = redis.call('HMGET', job_key(id), 'state', 'passes', 'cursor', 'paused', 'created',
    'finished')
  local state, passes, cursor = fields[1], tonumber(fields[2]), tonumber(fields[3])
  local repairs = 0

  local function repair(yes)
    if yes then repairs = repairs + 1 end
    return yes
  end

  -- What has jobs that have not ended.
  local lists = { 'active', 'run', 'queue', 'begun', 'timer', 'tail' }
  local function is_in_line()
    for _, name in ipairs({ 'run', 'queue', 'timer' }) do
      if redis.call('ZSCORE', key(name), id) then return true end
    end
    return false
  end

  if not state then
    for _, name in ipairs(lists) do repair(redis.call('ZREM', key(name), id) == 1) end
    recount(id, true)
    return { repairs, -1 }
  end
  for ended in pairs(ENDED) do
    if ended ~= state then repair(redis.call('ZREM', key(ended), id) == 1) end
  end
  if ENDED[state] then
    repair(redis.call('ZADD', key(state), 'NX', text(tonumber(fields[6]) or now), id) == 1)
    for _, name in ipairs(lists) do repair(redis.call('ZREM', key(name), id) == 1) end
    for _, part in ipairs(PARTS) do
      if redis.call('PTTL', job_key(id, part)) == -1 then
        redis.call('PEXPIRE', job_key(id, part), retention)
        repair(true)
      end
    end
    if redis.call('PTTL', job_key(id)) == -1 then
      redis.call('PEXPIRE', job_key(id), retention)
      repair(true)
    end
    recount(id, true)
    return { repairs, -1 }
  end
  repair(redis.call('ZADD', key('active'), 'NX', fields[5], id) == 1)
  repair(redis.call('ZADD', key('jobs'), 'NX', fields[5], id) == 1)

  assert(is_count(passes, 0) and passes <= MOST_PASSES and is_count(cursor, 0))

  -- While the job is probing, the probe is held with a lease or in `retry`; once there is a plan, it is neither.
  local prober = holder(id, PROBE)
  if state == 'probing' then
    if prober then
      repair(redis.call('ZADD', key('lease'), 'NX', now + lease, lease_name(id, PROBE, prober)) == 1)
      repair(redis.call('ZREM', job_key(id, 'retry'), PROBE) == 1)
    elseif repair(not redis.call('ZSCORE', job_key(id, 'retry'), PROBE)) then
      requeue(id, PROBE, now)
    end
    if not prober and not fields[4] and not is_in_line() then
      schedule(id, tonumber(redis.call('ZSCORE', job_key(id, 'retry'), PROBE)))
      repair(true)
    end
    recount(id, true)
    return { repairs, -1 }
  end
  if repair(prober) then remove_holder(id, PROBE, prober) end
  repair(redis.call('ZREM', job_key(id, 'retry'), PROBE) == 1)

  -- The assembly's index is `passes`. Once it is released, it is in `retry`, `live` or `done`.
  local stop = math.min(from + 1000, passes + 1)
  for index = from, stop - 1 do
    local token = holder(id, index)
    local bit = redis.call('GETBIT', job_key(id, 'map'), index)
    if recorded_by(id, index) then
      if repair(bit == 0) then redis.call('SETBIT', job_key(id, 'map'), index, 1) end
      repair(redis.call('ZREM', job_key(id, 'retry'), index) == 1)
      for _, part in ipairs({ 'copies', 'live' }) do
        local left = holder(id, index, part)
        if repair(left) then remove_holder(id, index, left) end
      end
    else
      if repair(bit == 1) then redis.call('SETBIT', job_key(id, 'map'), index, 0) end
      local backup = holder(id, index, 'copies')
      if repair(backup and not token) then
        remove_holder(id, index, backup)
      elseif backup then
        repair(redis.call('ZADD', key('lease'), 'NX', now + lease, lease_name(id, index, backup)) == 1)
      end
      if token then
        local name = lease_name(id, index, token)
        repair(redis.call('ZADD', key('lease'), 'NX', now + lease, name) == 1)
        repair(redis.call('ZREM', job_key(id, 'retry'), index) == 1)
      elseif index < math.min(cursor, passes) and not redis.call('ZSCORE', job_key(id, 'retry'), index) then
        requeue(id, index, now)
        repair(true)
      end
    end
  end
  if stop <= passes then return { repairs, stop } end

  advance_state(id, retention)
  if not fields[4] and CLAIMABLE[redis.call('HGET', job_key(id), 'state')] and not is_in_line() then
    -- A job that has nothing to give out is rightly not in line.
    if repair(cursor < passes or redis.call('ZCARD', job_key(id, 'retry')) > 0) then schedule(id, now) end
  end
  recount(id, true)
  return { repairs, -1 }
end)
