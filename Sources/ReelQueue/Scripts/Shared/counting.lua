-- What the board counts for people and programs that watch: speeds, counters and histograms.

-- Adds to the work done in the current slot of `pace`, from which readers compute the speed of the last minute. That of
-- all jobs has a slot for the current minute, too, from which they compute the speed of each minute of the last hour.
local function add_to_pace(id, frames, passes)
  -- A slot with what is added to it; an earlier one begins anew.
  local function added(slot, before)
    local stamp, f, p = (before or ''):match('^(%d+) (%d+) (%d+)$')
    if stamp ~= slot then f, p = 0, 0 end
    return string.format('%s %d %d', slot, f + frames, p + passes)
  end

  local number, minute = math.floor(now / PACE_SLOT), math.floor(now / RATE_SLOT)
  local place, place_of_minute = text(number % PACE_SLOTS), 'm' .. text(minute % RATE_SLOTS)
  local own, all = job_key(id, 'pace'), key('pace')
  redis.call('HSET', own, place, added(text(number), redis.call('HGET', own, place)))
  local slots = redis.call('HMGET', all, place, place_of_minute)
  redis.call('HSET', all, place, added(text(number), slots[1]), place_of_minute, added(text(minute), slots[2]))
end

-- The text of one, two or three totals of a counter.
local TOTALS = { '^(%d+)$', '^(%d+) (%d+)$', '^(%d+) (%d+) (%d+)$' }
local FORMATS = { '%d', '%d %d', '%d %d %d' }

-- Adds to counters of the whole board, each a table of a name and an amount for each of its totals. They are for
-- people, and no function decides by them: it does not matter where among its writes a transition counts, what a torn
-- call loses or a repeated one counts twice is harmless, and an error of Redis is ignored. Totals are written as
-- absolute values, and those of several counters with one command.
local function count(...)
  local counters, names, changed = { ... }, {}, {}
  for i, counter in ipairs(counters) do names[i] = counter[1] end
  local before = redis.pcall('HMGET', key('counters'), unpack(names))
  if before.err then return end
  for i, counter in ipairs(counters) do
    local x, y, z = (before[i] or ''):match(TOTALS[#counter - 1])
    changed[2 * i - 1] = counter[1]
    changed[2 * i] = string.format(FORMATS[#counter - 1],
      (x or 0) + counter[2], (y or 0) + (counter[3] or 0), (z or 0) + (counter[4] or 0))
  end
  redis.pcall('HSET', key('counters'), unpack(changed))
end

-- The counter of a histogram to which a time belongs: its name has the bucket's upper bound in milliseconds.
local function bucket(histogram, milliseconds)
  for _, bound in ipairs(BUCKETS) do
    if milliseconds <= bound then return histogram .. ':' .. bound end
  end
  return histogram .. ':more'
end
