-- complete: records a pass's result, once. The last pass releases the assembly; the assembly ends the job.
--
-- args     1 job  2 index  3 token  4 worker  5 plan  6 result as JSON  7 its diagnostics as JSON, one a line
--          8 frames decoded  9 frames encoded  10 peak resident memory (bytes)  11 lease (ms)  12 retention (ms)
--          13 CPU time (ms)  14 bytes of the output, 0 for passes; which programs before 0.2.0 do not tell
-- Reply    'ok'         recorded
--          'duplicate'  this token's result was recorded before
--          'late'       another token's result was recorded, or another token holds the pass, or this one handed it
--                       back, or the job has another plan by now; always for the probe, which has no result
--          'cancelled'  the job failed or was cancelled without this pass, or is unknown
-- Keeps    `done` is written once per pass, and its length tells when all passes are finished. `sum` has totals over
--          the first n results, and n itself: readers use it only while n is the length of `done`. `map` has a bit for
--          each pass.
transition('complete', function(args)
  local id, index, token, worker, place = args[1], args[2], args[3], args[4], tonumber(args[2])
  local decoded, encoded, peak = tonumber(args[8]), tonumber(args[9]), tonumber(args[10])
  local lease, retention, cpu = tonumber(args[11]), tonumber(args[12]), tonumber(args[13] or 0)
  local state, passes, sum, cursor, noted, plan, paused, offered = unpack(
    redis.call('HMGET', job_key(id), 'state', 'passes', 'sum', 'cursor', 'noted', 'plan', 'paused', 'offered'))
  passes = tonumber(passes)

  if state and (plan ~= args[5] or index == PROBE) then return 'late' end

  local by = recorded_by(id, index)
  if by then
    advance_state(id, retention)
    remove_holder(id, index, token)
    return by == token and 'duplicate' or 'late'
  end
  if not CLAIMABLE[state] then
    remove_holder(id, index, token)
    return 'cancelled'
  end
  local live, backup = redis.call('HGET', job_key(id, 'live'), index), redis.call('HGET', job_key(id, 'copies'), index)
  local held = token_of(live) == token and live or token_of(backup) == token and backup
  if not held and (live or redis.call('HGET', job_key(id, 'returned'), index) == token) then return 'late' end
  if place > passes or place == passes and redis.call('HLEN', job_key(id, 'done')) < passes then
    return redis.error_reply('REEL pass ' .. index .. ' of job ' .. id .. ' cannot be complete yet')
  end

  -- A pass without a holder gets a lease first, so that reap finishes this call if it is torn.
  if not held then set_holder(id, index, 'live', token, worker, lease, text(now), args[8], args[9]) end
  local _, started, _, before = parse(held or '')
  add_diagnostics(id, index, args[7])
  redis.call('HSETNX', job_key(id, 'done'), index, token .. ' ' .. args[6])
  redis.call('SETBIT', job_key(id, 'map'), index, '1')
  add_to_pace(id, math.max(encoded - (before or 0), 0), place < passes and 1 or 0)

  local finished = redis.call('HLEN', job_key(id, 'done'))
  local n, d, e, p, c = (sum or '0 0 0 0 0'):match('^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if tonumber(n) == finished - 1 then
    redis.call('HSET', job_key(id), 'sum', string.format('%d %d %d %d %d',
      finished, d + decoded, e + encoded, math.max(p, peak), c + cpu))
  end
  -- The note goes only with the pass that waited: other passes tell nothing of the disk that lacked room.
  if noted == index then redis.call('HDEL', job_key(id), 'note', 'noting', 'noted') end
  -- A pass that is held left `retry` when it was given out.
  if not held then redis.call('ZREM', job_key(id, 'retry'), index) end
  -- How long a pass took on this worker: claim compares it with late passes before it gives out a backup attempt.
  if started and decoded > 0 then redis.call('HSET', job_key(id, 'times'), worker, text(now - started)) end
  -- A job's state does not change while passes are missing.
  if finished >= passes then advance_state(id, retention) end
  -- Ends all holds on the pass: this one, and that of the slower one of two attempts.
  local loser = held == backup and live or backup
  if backup then redis.call('HDEL', job_key(id, 'copies'), index) end
  redis.call('HDEL', job_key(id, 'live'), index)
  redis.call('ZREM', key('lease'), lease_name(id, index, token))
  if loser then redis.call('ZREM', key('lease'), lease_name(id, index, token_of(loser))) end
  -- If every remaining pass is held, the assembly may begin early now; claim decides whether it can.
  if state == 'running' and tonumber(cursor) >= passes and finished < passes
    and redis.call('ZCARD', job_key(id, 'retry')) == 0 then
    schedule(id, now)
  end
  recount(id, false, finished < passes and { state, passes, cursor, paused, offered } or nil)
  event('completed', id, index, worker)
  if started and place < passes then
    local took = math.max(now - started, 0)
    count({ 'attempts:done', 1, decoded, encoded }, { bucket('duration', took), 1, took })
  else
    count({ 'attempts:done', 1, decoded, encoded })
  end
  local bytes = tonumber(args[14] or 0)
  if bytes > 0 then count({ 'outputs', 1, bytes }) end
  return 'ok'
end)
