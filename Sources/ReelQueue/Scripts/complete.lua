-- complete: records a pass's result, once, and does what follows from it.
--
-- args     1 job  2 index  3 token  4 worker  5 plan  6 result as JSON  7 its diagnostics as JSON, one a line
--          8 frames decoded  9 frames encoded  10 peak resident memory (bytes)  11 lease (ms)  12 retention (ms)
-- Reply    'ok'         recorded; the last pass has released the assembly, the assembly has ended the job
--          'duplicate'  this token's result was recorded before
--          'late'       another's result was, or another holds the pass, or the token was handed back, or the job has
--                       another plan by now; the probe, which has no result, is late always
--          'cancelled'  the job ended without this pass, or is unknown
-- Keeps    `done` is written once per pass; HLEN tells when all are there. `sum` is a register over the first n
--          results, where n is named in it: readers trust it only while n is HLEN. `map` has a bit for each.
transition('complete', function(args)
  local id, index, token, worker, place = args[1], args[2], args[3], args[4], tonumber(args[2])
  local decoded, encoded, peak = tonumber(args[8]), tonumber(args[9]), tonumber(args[10])
  local lease, retention = tonumber(args[11]), tonumber(args[12])
  local state, passes, sum, cursor, noted, plan = unpack(
    redis.call('HMGET', job_key(id), 'state', 'passes', 'sum', 'cursor', 'noted', 'plan'))
  passes = tonumber(passes)

  if state and (plan ~= args[5] or index == PROBE) then return 'late' end

  local by = recorded(id, index)
  if by then
    settle(id, retention)
    drop(id, index, token)
    return by == token and 'duplicate' or 'late'
  end
  if not CLAIMABLE[state] then
    drop(id, index, token)
    return 'cancelled'
  end
  local live, copy = redis.call('HGET', job_key(id, 'live'), index), redis.call('HGET', job_key(id, 'copies'), index)
  local held = token_of(live) == token and live or token_of(copy) == token and copy
  if not held and (live or redis.call('HGET', job_key(id, 'returned'), index) == token) then return 'late' end
  if place > passes or place == passes and redis.call('HLEN', job_key(id, 'done')) < passes then
    return redis.error_reply('REEL pass ' .. index .. ' of job ' .. id .. ' cannot be complete yet')
  end

  -- Without a holder the lease comes first too: it makes reap finish what is torn from here on.
  if not held then hold(id, index, 'live', token, worker, lease, text(now), args[8], args[9]) end
  local _, started, _, before = parse(held or '')
  keep_diagnostics(id, index, args[7])
  redis.call('HSETNX', job_key(id, 'done'), index, token .. ' ' .. args[6])
  redis.call('SETBIT', job_key(id, 'map'), index, '1')
  keep_pace(id, math.max(encoded - (before or 0), 0), place < passes and 1 or 0)

  local count = redis.call('HLEN', job_key(id, 'done'))
  local n, d, e, p = (sum or '0 0 0 0'):match('^(%d+) (%d+) (%d+) (%d+)$')
  if tonumber(n) == count - 1 then
    redis.call('HSET', job_key(id), 'sum', string.format('%d %d %d %d',
      count, d + decoded, e + encoded, math.max(p, peak)))
  end
  -- What other passes got done tells nothing of the disk that this one waits for.
  if noted == index then redis.call('HDEL', job_key(id), 'note', 'noting', 'noted') end
  -- What is held left `retry` when it was given out.
  if not held then redis.call('ZREM', job_key(id, 'retry'), index) end
  -- What a pass took here, for who wonders whether to do another one a second time.
  if started and decoded > 0 then redis.call('HSET', job_key(id, 'times'), worker, text(now - started)) end
  -- Nothing follows from a pass while others are missing.
  if count >= passes then settle(id, retention) end
  -- Nobody holds the pass any more; where two worked at it, the slower one does not, either.
  local loser = held == copy and live or copy
  if copy then redis.call('HDEL', job_key(id, 'copies'), index) end
  redis.call('HDEL', job_key(id, 'live'), index)
  redis.call('ZREM', key('lease'), lease_name(id, index, token))
  if loser then redis.call('ZREM', key('lease'), lease_name(id, index, token_of(loser))) end
  -- At the tail the assembly may begin now; claim looks whether it can.
  if state == 'running' and tonumber(cursor) >= passes and count < passes
    and redis.call('ZCARD', job_key(id, 'retry')) == 0 then
    offer(id, now)
  end
  event('completed', id, index, worker)
  return 'ok'
end)
