-- The counters of the backlog: the jobs that have not ended, and where their passes are. People and programs that watch
-- read them, and `owned`; no other function decides by them.
--
-- `backlog` has an entry for each such job, the totals of all entries in the field '*', and in '@OWNER' how many
-- entries an owner has. An entry is an absolute value, made from the job's keys after each transition that changes
-- what it says. One command writes it together with the totals, so these are the sum of the entries after every prefix
-- of a call's writes. What a torn call leaves behind is one job's entry, until the next transition of that job, an
-- audit or `tidy` counts the job anew.

-- The place of a job's state among the totals. The passes follow: those that nobody holds, the same of paused jobs,
-- held ones, finished ones.
local BACKLOG_STATES = { probing = 1, running = 2, assembling = 3, paused = 4, unreadable = 5 }

-- Whether `backlog` counts all jobs. A board of an earlier library does not until `tidy` has been round.
local function is_counted() return redis.call('HGET', key('control'), 'counted') == '1' end

-- The totals that a text has, as texts; nil if it has none.
local function totals_of(all)
  local totals = { (all or '0 0 0 0 0 0 0 0 0'):match('^' .. ('(%d+) '):rep(8) .. '(%d+)$') }
  return totals[9] and totals or nil
end

-- Adds what an entry counts to totals, or takes it from them if `sign` is -1.
local function add_entry(totals, entry, sign)
  local state, waiting, held, done = entry:match('^(%l+) (%d+) (%d+) (%d+) %d+ ')
  if not BACKLOG_STATES[state] then return end
  local function add(place, amount) totals[place] = math.max(totals[place] + sign * amount, 0) end
  add(BACKLOG_STATES[state], 1)
  add(state == 'paused' and 7 or 6, waiting)
  add(8, held)
  add(9, done)
end

-- The owner of an entry; nil if it has none.
local function owner_in(entry) return entry:match('^%l+ %d+ %d+ %d+ %d+ (.+)$') end

-- What a job counts, as an entry has it: its state; the passes that nobody holds, held ones, finished ones; from when
-- on the first of its passes can be claimed (ms), 0 if none can. Besides when the last of its retries comes due (ms),
-- nil if it has none. Nil if there is no such job or it has ended. Raises an error if the job cannot be read.
local function measure(id, known)
  local state, total, cursor, paused, offered = unpack(
    known or redis.call('HMGET', job_key(id), 'state', 'passes', 'cursor', 'paused', 'offered'), 1, 5)
  if not state or ENDED[state] then return nil end
  total = tonumber(total)
  assert(is_count(total, 0) and is_count(tonumber(cursor), 0) and (CLAIMABLE[state] or state == 'probing'))

  local held, waits, first, last = redis.call('HLEN', job_key(id, 'live')), 0, nil, nil
  local earliest = redis.call('ZRANGE', job_key(id, 'retry'), 0, 0, 'WITHSCORES')[2]
  if earliest then
    waits, first = redis.call('ZCARD', job_key(id, 'retry')), tonumber(earliest)
    last = tonumber(redis.call('ZRANGE', job_key(id, 'retry'), -1, -1, 'WITHSCORES')[2])
  end
  -- Passes that were never given out are in no key.
  local done, rest = 0, 1 - held - waits
  if state ~= 'probing' then
    done = math.min(redis.call('HLEN', job_key(id, 'done')), total)
    rest = total - done - held - waits
    -- The assembly is not among the passes.
    if held > 0 and redis.call('HEXISTS', job_key(id, 'live'), text(total)) == 1 then rest = rest + 1 end
  end
  rest = math.max(rest, 0)
  if rest > 0 and tonumber(offered) then first = math.min(first or now, tonumber(offered), now) end
  if paused then first, last = 0, nil end
  return string.format('%s %d %d %d %d', paused and 'paused' or state, rest + waits, held, done,
    math.max(math.min(first or 0, 2 ^ 53), 0)), last
end

-- Whether this call has forgotten what was counted; `tidy` asks.
local is_forgotten = false

-- Forgets all that was counted, since it cannot be read; `tidy` counts all jobs anew.
local function forget_backlog()
  is_forgotten = true
  redis.pcall('HDEL', key('control'), 'counted', 'tidying')
  redis.pcall('UNLINK', key('backlog'))
end

-- Counts a job anew. With `rereads` also who owns it, whether it was set aside, and its time in `ready`, which the
-- entry tells otherwise. A caller that knows them gives the fields state, passes, cursor, paused and offered. Errors of
-- Redis are ignored: no transition fails because of what is counted.
function recount(id, rereads, known)
  local found = redis.pcall('HMGET', key('backlog'), id, '*')
  if found.err then return forget_backlog() end
  local before, totals = found[1] or '', totals_of(found[2])
  if not totals then return forget_backlog() end

  local is_read, counts, last = pcall(measure, id, known)
  if not is_read or counts and (rereads or before:find('^unreadable'))
    and redis.pcall('ZSCORE', key('broken'), id) then
    counts = type(redis.pcall('ZSCORE', key('active'), id)) == 'string' and 'unreadable 0 0 0 0' or nil
    last = nil
  end
  if not counts and before == '' and not rereads then return end

  local owner = owner_in(before)
  if counts and (rereads or before == '') then
    local is_known, name = pcall(owner_of, id)
    owner = is_known and name or nil
  end
  local entry = counts and counts .. ' ' .. (owner or '') or ''

  -- The times come first: a job without an entry is in neither list.
  local first = (counts or ' 0'):match(' (%d+)$')
  if rereads or first ~= before:match('^%l+ %d+ %d+ %d+ (%d+) ') then
    if first ~= '0' then redis.pcall('ZADD', key('ready'), first, id) else redis.pcall('ZREM', key('ready'), id) end
  end
  if last and last > now then
    redis.pcall('ZADD', key('later'), text(math.min(last, 2 ^ 53)), id)
  elseif not counts then
    redis.pcall('ZREM', key('later'), id)
  end
  if entry == before then return end

  add_entry(totals, before, -1)
  add_entry(totals, entry, 1)
  local writes = { id, entry, '*', string.format('%d %d %d %d %d %d %d %d %d', unpack(totals)) }
  local spent = {}
  local function change(name, by)
    if not name then return end
    local number = math.max((tonumber(redis.pcall('HGET', key('backlog'), '@' .. name)) or 0) + by, 0)
    table.insert(writes, '@' .. name)
    table.insert(writes, text(number))
    if number == 0 then table.insert(spent, '@' .. name) end
  end
  local after = entry ~= '' and owner or nil
  if after ~= owner_in(before) then
    change(owner_in(before), -1)
    change(after, 1)
  end
  redis.pcall('HSET', key('backlog'), unpack(writes))
  if entry == '' then table.insert(spent, id) end
  if #spent > 0 then redis.pcall('HDEL', key('backlog'), unpack(spent)) end
end

-- Takes a job whose keys are gone off the lists of jobs.
local function unlist(id)
  for _, list in ipairs({ 'done', 'failed', 'cancelled', 'active', 'broken', 'jobs' }) do
    redis.call('ZREM', key(list), id)
  end
  recount(id, true)
end
