-- fail: takes a pass back from a worker whose attempt failed. The cause decides what follows.
--
-- args     1 job  2 index  3 token  4 worker  5 plan  6 cause  7 reason as JSON  8 lease (ms)
--          9 first wait after a transient failure (ms)  10 retention (ms)
-- Reply    'retry', 'job-at-fault' (tried again, too, but the pass has crashed on two hosts by now), 'job-failed', or
--          'late' (the token does not hold the pass, or the job has ended or has another plan)
-- Keeps    only the holder can fail a pass; a job fails as soon as a charged cause reaches its limit.
transition('fail', function(args)
  local id, index, token, worker, cause, reason = args[1], args[2], args[3], args[4], args[6], args[7]
  local lease, backoff, retention = tonumber(args[8]), tonumber(args[9]), tonumber(args[10])
  local state, need, plan = unpack(redis.call('HMGET', job_key(id), 'state', 'need', 'plan'))
  need = tonumber(need)

  if state and plan ~= args[5] then return 'late' end
  if not is_open(state, index) or not held_part(id, index, token) or recorded_by(id, index) then
    remove_holder(id, index, token)
    return 'late'
  end

  local function give_up(how, attempts, by)
    fail_job(id, retention, how, how ~= 'nobody' and index or nil, attempts, by, reason)
    remove_holder(id, index, token)
    count({ 'attempts:failed:' .. cause, 1 })
    return 'job-failed'
  end

  local function try_again(at)
    redis.call('HSET', job_key(id, 'returned'), index, token)
    requeue(id, index, at)
    remove_holder(id, index, token)
    event('retried', id, index, worker)
    count({ 'attempts:failed:' .. cause, 1 })
    return 'retry'
  end

  -- Whether a live worker has the memory for a pass that ran out of it: twice what the job planned.
  local function larger_slot_is_there()
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')) do
      if tonumber(redis.call('HGET', worker_key(name), 'memory') or 0) >= 2 * need then return true end
    end
    return false
  end

  if cause == 'no-space' then
    -- At once: the worker claims nothing for a while, and other workers may have room.
    redis.call('HSET', job_key(id), 'note', reason, 'noting', host_of(worker), 'noted', index)
    return try_again(now)
  elseif cause == 'incompatible' then
    if exclude(id, worker, reason, lease) then return give_up('nobody', nil, host_of(worker)) end
    return try_again(now)
  end

  -- Whether a permanent failure fails the job. If one host reports it, another host tries, if one has a worker that
  -- could. A submitting process that probes is no worker and is believed at once, since a user waits for its verdict on
  -- the file.
  local function is_believed(hosts)
    if #hosts > 1 then return true end
    if index == PROBE and not redis.call('ZSCORE', key('workers'), worker) then return true end
    return not another_host_could(id, hosts, need_of(failures(id, index), need), lease)
  end

  local again, failed, hosts = charge(id, index, cause, worker, token, reason)
  if cause == 'permanent' and is_believed(hosts) then again = false end
  if again and (cause ~= 'limit' or larger_slot_is_there()) then
    local answer = try_again(cause == 'transient' and now + backoff * 2 ^ (failed - 1) or now)
    return cause == 'crash' and #hosts > 1 and 'job-at-fault' or answer
  end
  local how = (cause == 'permanent' or cause == 'limit') and cause or 'exhausted'
  return give_up(how, failed, worker)
end)
