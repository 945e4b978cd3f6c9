-- figures: the counters of the whole board, how many ended jobs it has, and the slots of its workers. Writes nothing.
--
-- args     1 lease (ms)  2 retention (ms)
-- Reply    {counters (a flat list), jobs that are done, failed, cancelled, live workers, their slots that are busy,
--          free, out, drained}
-- Keeps    the cost does not grow with the number of jobs and passes. Jobs whose keys have expired are not counted.
--          Each slot of a live worker is in one state: busy if it holds a pass; else drained if its worker or host is,
--          out if it took itself out, or free.
look('figures', function(args)
  local lease, retention = tonumber(args[1]), tonumber(args[2])

  local function ended(state) return redis.call('ZCOUNT', key(state), '(' .. text(now - retention), '+inf') end

  local drains = {}
  local control = redis.call('HGETALL', key('control'))
  for i = 1, #control, 2 do drains[control[i]] = true end

  -- A worker's slots, those that took themselves out, and the passes that it holds. Programs before 0.2.0 tell them in
  -- their report alone.
  local function slots_of(name, slots, out, held)
    if not tonumber(slots) then
      local report = cjson.decode(redis.call('HGET', worker_key(name), 'report'))
      slots, out, held = report.slots, report.slotsOut, #report.held
    end
    slots, out, held = tonumber(slots), tonumber(out), tonumber(held)
    assert(is_count(slots, 0) and is_count(out, 0) and is_count(held, 0))
    return slots, out, held
  end

  local workers, busy, free, out, drained_slots = 0, 0, 0, 0, 0

  local function add(name)
    local host, slots, away, held = unpack(redis.call('HMGET', worker_key(name), 'host', 'slots', 'out', 'held'))
    slots, away, held = slots_of(name, slots, away, held)
    local rest = math.max(slots - held, 0)
    busy = busy + held
    if drains['drain:' .. name] or drains['drain-host:' .. (host or name)] then
      drained_slots = drained_slots + rest
    else
      away = math.min(away, rest)
      out, free = out + away, free + rest - away
    end
  end

  -- A worker that cannot be read counts without slots.
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')) do
    workers = workers + 1
    pcall(add, name)
  end

  local counters = redis.pcall('HGETALL', key('counters'))
  return {
    counters.err and {} or counters, ended('done'), ended('failed'), ended('cancelled'), workers, busy, free, out,
    drained_slots,
  }
end)
