-- beat: a worker's sign of life, with all passes that it holds.
--
-- args     1 worker  2 host  3 report as JSON  4 lease (ms)  5 memory of all its slots (bytes)  then seven per held
--          pass: job, index, token, plan, frames decoded, frames encoded, chunks that were whole when it was claimed;
--          then its slots, and how many of them took themselves out, which programs before 0.2.0 do not tell
-- Reply    {drained as `drained` has it, then for each held pass 'ok', 'lost' or 'cancel'}
--          an error if the board is of another version
-- Keeps    only a pass's holder extends its lease. A token whose lease is gone gets it back if no other token holds the
--          pass: Redis lost its last second, or the lease lapsed and no worker took the pass. A token that was handed
--          back does not get it, nor does one of another plan than the job's. If more chunks are whole than at any
--          earlier claim, the pass makes progress, and its attempts charged as lost are forgotten.
transition('beat', function(args)
  local worker, lease = args[1], tonumber(args[4])

  -- Whether a token may hold a pass again that has no holder. It may not if it handed the pass back, nor hold the
  -- assembly if a pass is no longer finished.
  local function may_regain(id, index, token, passes)
    if redis.call('HGET', job_key(id, 'returned'), index) == token then return false end
    local place = tonumber(index)
    return place < passes or place == passes and redis.call('HLEN', job_key(id, 'done')) >= passes
  end

  local function forget_losses(id, index, whole)
    local record = failures(id, index)
    if whole <= record.whole then return end
    record.whole, record.attempts.lost, record.hosts.lost = whole, nil, nil
    store_failures(id, index, record)
  end

  local function answer(id, index, token, plan, decoded, encoded, whole)
    local state, passes, current = unpack(redis.call('HMGET', job_key(id), 'state', 'passes', 'plan'))
    if index == PROBE and ENDED[state] then
      remove_holder(id, index, token)
      return 'cancel'
    end
    if plan ~= current then return 'lost' end
    local by = recorded_by(id, index)
    if by then return by == token and 'ok' or 'lost' end
    if ENDED[state] then
      remove_holder(id, index, token)
      return 'cancel'
    end
    if not is_open(state, index) then return 'lost' end

    local part, held, started, _, before = held_part(id, index, token)
    if held and not part then return 'lost' end
    if not held and not may_regain(id, index, token, tonumber(passes)) then return 'lost' end
    set_holder(id, index, part or 'live', token, worker, lease, started or text(now), decoded, encoded)
    local further = encoded - (before or 0)
    if further > 0 then add_to_pace(id, further, 0) end
    if whole > 0 and redis.call('HEXISTS', job_key(id, 'fails'), index) == 1 then forget_losses(id, index, whole) end
    if not held then
      redis.call('ZREM', job_key(id, 'retry'), index)
      recount(id)
      event('adopted', id, index, worker)
    end
    return 'ok'
  end

  local refusal = refuse_schema()
  if refusal then return refusal end

  -- What follows the passes.
  local further = (#args - 5) % 7
  redis.call('HSET', worker_key(worker), 'host', args[2], 'report', args[3], 'memory', args[5],
    'slots', further == 2 and args[#args - 1] or '', 'out', further == 2 and args[#args] or '',
    'held', (#args - 5 - further) / 7)
  redis.call('ZADD', key('workers'), now, worker)

  local reply = { drained(worker) }
  for i = 6, #args - further, 7 do
    local said = isolated(args[i], answer, args[i + 1], args[i + 2], args[i + 3], args[i + 4], args[i + 5],
      tonumber(args[i + 6]))
    table.insert(reply, said or 'lost')
  end
  return reply
end)
