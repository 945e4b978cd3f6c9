-- What the transitions share. The library is a head of constants that Swift writes (versions, names, policy), this
-- file, and the files of the transitions in the order of their names. `Library.swift` joins them end to end.
--
-- A call is `FCALL reel2_NAME`. Its KEYS are all keys of a fixed name, in the order of KEY_NAMES; its arguments are the
-- version that the caller knows, then those of the transition. Keys of jobs and workers are made of prefix and an id.
-- The braces in prefix put all of them in one hash slot.
--
-- Time is Redis's. A torn append-only file can apply any prefix of a call's writes, so their order keeps every prefix
-- safe:
--   * a pass is requeued before its holder is removed, and its entry of `lease` goes last: reap finishes what was torn;
--   * an entry of `live` always has its lease;
--   * a job is in `run` or `queue` before its state says running; claim removes from both what does not belong there;
--   * a job that begins is in `run` before it leaves `queue`.

-- Of the current call: the time in milliseconds since 1970, the keys that it declared, by name, and how all keys of its
-- namespace begin.
local now, declared, prefix = 0, {}, ''

-- The index of the probe, the pass that makes a job's index and plan while the job is probing.
local PROBE = '-1'

local CLAIMABLE = { running = true, assembling = true }

local ENDED = { done = true, failed = true, cancelled = true }

local PARTS = {
  'passes', 'live', 'copies', 'done', 'map', 'retry', 'fails', 'excluded', 'returned', 'pace', 'times',
  'diagnostics', 'waiters', 'webhooks',
}

-- A key of the whole board.
local function key(name) return declared[name] end

local function worker_key(worker) return prefix .. 'worker:' .. worker end

-- A whole number as text. An argument that is a number costs more than the whole call with text instead.
local function text(number) return string.format('%d', number) end

local function job_key(id, part)
  if part then return prefix .. 'job:' .. id .. ':' .. part end
  return prefix .. 'job:' .. id
end

local function lease_name(id, index, token) return id .. '/' .. index .. '/' .. token end

-- Adds an event to the capped stream for people and programs that watch. No function reads the stream.
local function event(what, id, index, worker)
  redis.pcall('XADD', key('events'), 'MAXLEN', '~', EVENTS_KEPT, '*',
    'event', what, 'job', id, 'index', index or '', 'worker', worker or '')
end

-- Adds hints, each of which wakes one waiting worker. Losing one is harmless: a worker waits for seconds only.
local function wake(hints)
  for _ = redis.call('LLEN', key('wake')) + 1, math.min(hints, HINTS) do redis.call('LPUSH', key('wake'), 1) end
end

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

-- Whether a value is a whole number from `least` to 2^53, above which a double no longer tells neighbours apart.
local function is_count(value, least) return value and value >= least and value <= 2 ^ 53 and value % 1 == 0 end

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

-- The parts of an entry of `live` or `copies`: token, started (ms), frames decoded, frames encoded, worker.
local function parse(entry) return entry:match('^(%S+) (%d+) (%d+) (%d+) (.*)$') end

-- The token of an entry of `live`, `copies` or `done`; nil if there is no entry.
local function token_of(entry) return entry and entry:match('^%S+') end

-- The holder of a pass as `parse` gives it, or with `part` 'copies' the holder of its backup attempt, which exists only
-- beside a holder in `live`. Nil if there is none.
local function holder(id, index, part)
  local entry = redis.call('HGET', job_key(id, part or 'live'), index)
  if not entry then return nil end
  return parse(entry)
end

-- The part ('live' or 'copies') in which a token holds a pass, then its entry there as `parse` gives it. If the token
-- does not hold the pass: nil, then the entry of `live`, if there is one.
local function held_part(id, index, token)
  local live = redis.call('HGET', job_key(id, 'live'), index)
  if token_of(live) == token then return 'live', parse(live) end
  local backup = redis.call('HGET', job_key(id, 'copies'), index)
  if token_of(backup) == token then return 'copies', parse(backup) end
  if live then return nil, parse(live) end
end

-- Makes a token the holder of a pass in `part`, with a lease. Started, decoded and encoded are texts, as in the entry.
local function set_holder(id, index, part, token, worker, lease, started, decoded, encoded)
  redis.call('ZADD', key('lease'), text(now + lease), lease_name(id, index, token))
  redis.call('HSET', job_key(id, part), index,
    token .. ' ' .. started .. ' ' .. decoded .. ' ' .. encoded .. ' ' .. worker)
end

-- Ends a token's hold on a pass and its lease; each transition that takes a pass from a holder ends with it. If the
-- pass has a backup attempt, that becomes the holder in `live`.
local function remove_holder(id, index, token)
  local backup = redis.call('HGET', job_key(id, 'copies'), index)
  if token_of(backup) == token then
    redis.call('HDEL', job_key(id, 'copies'), index)
    backup = nil
  end
  if holder(id, index) == token then
    if backup then
      redis.call('HSET', job_key(id, 'live'), index, backup)
      redis.call('HDEL', job_key(id, 'copies'), index)
    else
      redis.call('HDEL', job_key(id, 'live'), index)
    end
  end
  redis.call('ZREM', key('lease'), lease_name(id, index, token))
end

-- Extends the probe's lease if the token holds it and the job is probing. Returns whether it did.
local function extend_probe(id, token, lease)
  if redis.call('HGET', job_key(id), 'state') ~= 'probing' or holder(id, PROBE) ~= token then return false end
  redis.call('ZADD', key('lease'), text(now + lease), lease_name(id, PROBE, token))
  return true
end

-- The token that recorded the result of a finished pass; nil if the pass is not finished.
local function recorded_by(id, index)
  return token_of(redis.call('HGET', job_key(id, 'done'), index))
end

-- Adds the diagnostics of a finished pass to the job's, each once, so that readers need not look through all results.
-- `lines` has one diagnostic a line, as text that no function reads.
local function add_diagnostics(id, index, lines)
  for line in lines:gmatch('[^\n]+') do
    if redis.call('HLEN', job_key(id, 'diagnostics')) >= DIAGNOSTICS_KEPT then return end
    redis.call('HSETNX', job_key(id, 'diagnostics'), line, index)
  end
end

-- A pass's kind ('video', 'audio', 'assembly', 'probe') and the pass as JSON, '' for the last two. Raises an error if
-- the job has no such pass.
local function pass_of(id, index)
  if text(index) == PROBE then return 'probe', '' end
  local entry = redis.call('HGET', job_key(id, 'passes'), index)
  if entry then return entry:match('^(%S+) (.*)$') end
  assert(tonumber(index) == tonumber(redis.call('HGET', job_key(id), 'passes')))
  return 'assembly', ''
end

-- Whether a pass can be worked on in this state of its job: the probe while the job is probing, the others after that.
local function is_open(state, index)
  if tonumber(index) < 0 then return state == 'probing' end
  return CLAIMABLE[state]
end

-- The error to reply with if the board is of another version, else nil. An empty board gets this version.
local function refuse_schema()
  local found = redis.call('GET', key('schema'))
  if found == SCHEMA then return nil end
  if found then return redis.error_reply('REELSCHEMA ' .. found) end
  redis.call('SET', key('schema'), SCHEMA)
end

-- The name of the person or token that submitted a job: what its submission has before the last @. Nil if that is not
-- known or cannot be read.
local function owner_of(id)
  local is_read, facts = pcall(cjson.decode, redis.call('HGET', job_key(id), 'submission') or '')
  local submitter = is_read and type(facts) == 'table' and facts.submitter
  return type(submitter) == 'string' and submitter:match('^(.*)@') or nil
end

-- A job's weight in thousandths, which the cost of its claims shows; that of most jobs if it cannot be read.
local function weight_of(id)
  local fields = redis.call('HMGET', job_key(id), 'share', 'frames', 'passes')
  local share, frames, passes = tonumber(fields[1]), tonumber(fields[2]), tonumber(fields[3])
  if not (share and frames and passes and share > 0) then return 1000 end
  return math.floor(math.min(1000 * math.max(frames, 1) / math.max(passes, 1) / share, 1e6) + 0.5)
end

-- The virtual time at which a job comes into line: the one that claims have come to, or its own if that is later. So a
-- new job owes nothing, and a job that waited is owed nothing.
local function time_in_line(id)
  local own = tonumber(redis.call('HGET', job_key(id), 'virtual') or 0)
  return math.max(own, tonumber(redis.call('GET', key('virtual')) or 0) or 0)
end

-- Puts a job into `queue`, or to another place there if its weight has changed: after those of greater weight and, of
-- its own weight, in the owner's next turn. A turn has a job of each owner that has one, so an owner with a thousand
-- jobs does not keep the others waiting; the jobs of one owner stay in the order in which they came.
local function enqueue(id)
  if redis.call('EXISTS', key('queue'), key('begun')) == 0 then redis.call('DEL', key('turns')) end
  local weight, owner = weight_of(id), owner_of(id) or ''
  local last, current = unpack(redis.call('HMGET', key('turns'),
    'last:' .. weight .. ':' .. owner, 'now:' .. weight))
  local turn = math.max((last or -1) + 1, current or 0)
  redis.call('HSET', key('turns'), 'last:' .. weight .. ':' .. owner, text(turn))
  redis.call('HSET', job_key(id), 'owner', owner)
  redis.call('ZADD', key('queue'), text(turn - weight * TURNS), id)
end

-- Begins a job: until it ends, it shares the slots with the others that are begun.
local function begin_job(id)
  if redis.call('ZSCORE', key('begun'), id) then return end
  local place, weight = redis.call('ZSCORE', key('queue'), id), weight_of(id)
  if place then
    local turn, current = place + weight * TURNS, redis.call('HGET', key('turns'), 'now:' .. weight)
    redis.call('HSET', key('turns'), 'now:' .. weight, text(math.max(turn, current or 0)))
  end
  local begun = 'begun:' .. (redis.call('HGET', job_key(id), 'owner') or '')
  redis.call('HSET', key('turns'), begun, text((redis.call('HGET', key('turns'), begun) or 0) + 1))
  redis.call('ZADD', key('begun'), text(weight), id)
  redis.call('ZADD', key('run'), 'NX', time_in_line(id), id)
  redis.call('ZREM', key('queue'), id)
end

-- Takes a job that ends off those that are begun.
local function end_begun(id)
  if redis.call('ZREM', key('begun'), id) == 0 then return end
  local begun = 'begun:' .. (redis.call('HGET', job_key(id), 'owner') or '')
  redis.call('HSET', key('turns'), begun, text(math.max((redis.call('HGET', key('turns'), begun) or 1) - 1, 0)))
end

-- Has a job wait for a slot: in `run` if it is begun, else in `queue`.
local function line_up(id)
  if redis.call('ZSCORE', key('begun'), id) then
    redis.call('ZADD', key('run'), 'NX', time_in_line(id), id)
  elseif not redis.call('ZSCORE', key('queue'), id) then
    enqueue(id)
  end
  wake(1)
end

-- Has a job that has work from `at` on wait for that time in `timer`, or for a slot if that time has come. A paused job
-- is left out; `pause` adds it when it is resumed.
local function schedule(id, at)
  if redis.call('HEXISTS', job_key(id), 'paused') == 1 then return end
  if at > now then redis.call('ZADD', key('timer'), 'LT', at, id) else line_up(id) end
end

-- Has a job's claims cost what the weight says that a user gave it by `weigh`, if one did: frames of the average pass,
-- divided by that.
local function reweigh(id)
  local weight, frames, passes = unpack(redis.call('HMGET', job_key(id), 'weight', 'frames', 'passes'))
  if not weight then return end
  redis.call('HSET', job_key(id), 'share', math.max(frames, 1) / math.max(passes, 1) / weight)
end

-- Removes a job from `run`, of which it keeps its virtual time, and from `queue`. `schedule` brings it back.
local function leave_line(id)
  local score = redis.call('ZSCORE', key('run'), id)
  if score and redis.call('EXISTS', job_key(id)) == 1 then redis.call('HSET', job_key(id), 'virtual', score) end
  redis.call('ZREM', key('run'), id)
  redis.call('ZREM', key('queue'), id)
end

-- Puts a pass that is taken from its holder into `retry`. Returns false, and changes nothing, if the pass has a backup
-- attempt, so that the other attempt goes on, and for an assembly that began early, which the last pass releases again.
local function requeue(id, index, at)
  local backup = holder(id, index, 'copies')
  if backup and backup ~= holder(id, index) then return false end
  local passes = tonumber(redis.call('HGET', job_key(id), 'passes'))
  if tonumber(index) == passes and redis.call('HLEN', job_key(id, 'done')) < passes then return false end
  redis.call('ZADD', job_key(id, 'retry'), at, index)
  schedule(id, at)
  return true
end

-- Takes a pass back, uncharged, from a holder that hands it back. Returns whether the token held it.
local function hand_back(id, index, token, state)
  local held = held_part(id, index, token) ~= nil
  if held and is_open(state, index) and not recorded_by(id, index) then
    redis.call('HSET', job_key(id, 'returned'), index, token)
    requeue(id, index, now)
    event('released', id, index)
    count({ 'attempts:released', 1 })
  end
  remove_holder(id, index, token)
  return held
end

-- The name of a job's webhook in `webhooks`. No id has a space.
local function webhook_name(id, url) return id .. ' ' .. url end

-- The URLs of a job's webhooks; none if they cannot be read.
local function webhooks_of(id)
  local entries, urls = redis.pcall('HGETALL', job_key(id, 'webhooks')), {}
  for i = 1, entries.err and 0 or #entries, 2 do table.insert(urls, entries[i]) end
  return urls
end

-- Makes a job's webhook due: it is to be sent from now on. If its job has not ended, that means nothing.
local function make_due(id, url)
  redis.call('HSET', job_key(id, 'webhooks'), url, text(now) .. ' 0')
  redis.call('ZADD', key('webhooks'), now, webhook_name(id, url))
end

-- Has none of a job's webhooks sent any more.
local function withhold_webhooks(id)
  for _, url in ipairs(webhooks_of(id)) do redis.call('ZREM', key('webhooks'), webhook_name(id, url)) end
end

-- Since when a webhook is to be sent (ms), and the attempts at that; nil if it is not.
local function sending_of(id, url)
  local since, attempts = (redis.call('HGET', job_key(id, 'webhooks'), url) or ''):match('^(%d+) (%d+)$')
  return since, tonumber(attempts)
end

-- Ends a job, and puts it on the list of its state. Its holders learn of that at their next beat. `why` is a list of
-- further fields and their values.
local function end_job(id, state, retention, why)
  redis.call('ZADD', key(state), now, id)
  for _, url in ipairs(webhooks_of(id)) do make_due(id, url) end
  redis.call('HSET', job_key(id), 'state', state, 'finished', now, unpack(why or {}))
  leave_line(id)
  end_begun(id)
  redis.call('ZREM', key('timer'), id)
  redis.call('ZREM', key('tail'), id)
  -- A failed job may run again, by `retry`.
  if state ~= 'failed' then
    for _, part in ipairs({ 'passes', 'returned', 'times' }) do redis.call('UNLINK', job_key(id, part)) end
  end
  redis.call('PEXPIRE', job_key(id), retention)
  for _, part in ipairs(PARTS) do redis.call('PEXPIRE', job_key(id, part), retention) end
  redis.call('ZREM', key('active'), id)
  event(state, id)
  count({ 'jobs:' .. state, 1 })
end

-- Takes a job off the lists of ended jobs.
local function leave_ended(id)
  for state in pairs(ENDED) do redis.call('ZREM', key(state), id) end
end

-- Ends a job as failed. `how` is 'permanent', 'exhausted', 'lost', 'limit' or 'nobody'; `index` the pass that failed
-- it, nil if there is none; `by` the worker or host; `reason` that of the last attempt, as text that no function reads.
local function fail_job(id, retention, how, index, attempts, by, reason)
  local state, need = unpack(redis.call('HMGET', job_key(id), 'state', 'need'))
  end_job(id, 'failed', retention, {
    'how', how, 'failed', index or '', 'attempts', attempts or 0, 'by', by or '', 'planned', need,
    'reason', reason or '', 'refused', state == 'probing' and 1 or 0,
  })
end

-- Derives a job's state from its finished passes: if all but the assembly are finished, the assembly is released; if
-- the assembly is finished, the job is done. Repeating it is harmless, so a function that finds a torn call repeats it.
local function advance_state(id, retention)
  local state, passes = unpack(redis.call('HMGET', job_key(id), 'state', 'passes'))
  if not CLAIMABLE[state] then return end
  local finished = redis.call('HLEN', job_key(id, 'done'))
  if redis.call('HEXISTS', job_key(id, 'done'), passes) == 1 then
    end_job(id, 'done', retention)
  elseif finished >= tonumber(passes) then
    if state == 'running' then
      redis.call('HSET', job_key(id), 'state', 'assembling')
      event('assembling', id)
    end
    if redis.call('HEXISTS', job_key(id, 'live'), passes) == 1 then return end
    redis.call('ZADD', job_key(id, 'retry'), 'NX', now, passes)
    -- An assembly that failed keeps the time at which its retry is due.
    schedule(id, tonumber(redis.call('ZSCORE', job_key(id, 'retry'), passes)))
    -- What ends a job goes before what begins others.
    if state == 'running' then redis.call('ZADD', key('run'), 'XX', 'LT', 0, id) end
  end
end

-- Prepares a job that has ended to run again: its keys no longer expire, and failures, retries and excluded workers are
-- forgotten. Finished passes stay finished.
local function run_again(id)
  redis.call('ZADD', key('active'), redis.call('HGET', job_key(id), 'created'), id)
  redis.call('PERSIST', job_key(id))
  for _, part in ipairs(PARTS) do redis.call('PERSIST', job_key(id, part)) end
  redis.call('DEL', job_key(id, 'fails'), job_key(id, 'excluded'), job_key(id, 'retry'))
  redis.call('HDEL', job_key(id), 'note', 'noting', 'noted', 'copied', 'taken')
  leave_ended(id)
end

-- A worker's host as its last beat reported it; before the first beat the worker's name.
local function host_of(worker)
  return redis.call('HGET', worker_key(worker), 'host') or worker
end

-- Whether a user has drained a worker, which is given nothing then: 0 if not, 1 the worker itself, 2 its host.
local function drained(worker)
  local own, of_host = unpack(redis.call('HMGET', key('control'), 'drain:' .. worker, 'drain-host:' .. host_of(worker)))
  return own and 1 or of_host and 2 or 0
end

-- The failed attempts of a pass: {attempts = {cause = count}, crashed = {worker …}, hosts = {cause = {host …}},
-- whole = the most chunks that were whole when the pass was claimed, recent = the last attempts, each {cause, reason,
-- worker, host, token, at}}. A reason is text that no function reads; it is absent if the worker vanished.
local function failures(id, index)
  local entry = redis.call('HGET', job_key(id, 'fails'), index)
  return entry and cjson.decode(entry) or { attempts = {}, crashed = {}, hosts = {}, whole = 0, recent = {} }
end

local function store_failures(id, index, record)
  redis.call('HSET', job_key(id, 'fails'), index, cjson.encode(record))
end

local function contains(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

-- Charges an attempt. Returns whether the pass may be tried again, how often it has failed for this cause, and on which
-- hosts.
local function charge(id, index, cause, worker, token, reason)
  local record = failures(id, index)
  record.attempts[cause] = (record.attempts[cause] or 0) + 1
  if cause == 'crash' then table.insert(record.crashed, worker) end
  local hosts = record.hosts[cause] or {}
  if not contains(hosts, host_of(worker)) then table.insert(hosts, host_of(worker)) end
  record.hosts[cause] = hosts
  table.insert(record.recent, {
    cause = cause, reason = reason, worker = worker, host = host_of(worker), token = token, at = now,
  })
  if #record.recent > ATTEMPTS_KEPT then table.remove(record.recent, 1) end
  store_failures(id, index, record)
  return record.attempts[cause] < LIMITS[cause], record.attempts[cause], hosts
end

-- The bytes that a pass's next holder must have free: the job's need, or twice that after the pass ran out of memory.
local function need_of(record, need)
  return record.attempts.limit and 2 * need or need
end

-- The process that removes an ended job, nil if there is none or its lease on that has lapsed. Until then the job
-- cannot begin again.
local function removal_of(id)
  local by, till = (redis.call('HGET', job_key(id), 'removing') or ''):match('^(.+) (%d+)$')
  return by and tonumber(till) > now and by or nil
end

-- Whether Redis started less than a lease ago. Its uptime is negative if its clock was set back after the start: `reap`
-- notices that by itself.
local function has_just_started(lease)
  local uptime = tonumber(redis.call('INFO', 'server'):match('uptime_in_seconds:(-?%d+)'))
  return uptime >= 0 and uptime * 1000 <= lease
end

-- Whether a job excludes every live worker; false if no worker is live.
local function excludes_all_live(id, lease)
  local live = redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')
  for _, name in ipairs(live) do
    if redis.call('HEXISTS', job_key(id, 'excluded'), name) == 0 then return false end
  end
  return #live > 0
end

-- Excludes a worker from a job, and forgets excluded workers that have left the registry. Returns whether the job now
-- excludes every live worker.
local function exclude(id, worker, reason, lease)
  local before = redis.call('HGETALL', job_key(id, 'excluded'))
  redis.call('HSET', job_key(id, 'excluded'), worker, host_of(worker) .. '\n' .. reason)
  for i = 1, #before, 2 do
    local name = before[i]
    if name ~= worker and not redis.call('ZSCORE', key('workers'), name) then
      redis.call('HDEL', job_key(id, 'excluded'), name)
    end
  end
  event('excluded', id, nil, worker)
  return excludes_all_live(id, lease)
end

-- Whether a live worker on another host than these could try a pass that needs so many bytes.
local function another_host_could(id, hosts, need, lease)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')) do
    if not contains(hosts, host_of(name)) and redis.call('HEXISTS', job_key(id, 'excluded'), name) == 0
      and drained(name) == 0
      and tonumber(redis.call('HGET', worker_key(name), 'memory') or 0) >= need then
      return true
    end
  end
  return false
end

-- Sets aside a job with a value that no function writes: none of its passes is given out until a user cancels or
-- removes the job.
local function set_aside(id)
  redis.call('ZADD', key('broken'), now, id)
  for _, list in ipairs({ 'run', 'queue', 'timer', 'tail' }) do redis.call('ZREM', key(list), id) end
  event('broken', id)
end

-- Keys of the whole board, each with a command that fails if the key is of another type: that is not a job's fault.
local SHARED = {
  run = 'ZCARD', timer = 'ZCARD', tail = 'ZCARD', lease = 'ZCARD', workers = 'ZCARD', active = 'ZCARD',
  failed = 'ZCARD', done = 'ZCARD', cancelled = 'ZCARD', wake = 'LLEN', control = 'HLEN', virtual = 'GET',
  pace = 'HLEN', webhooks = 'ZCARD', queue = 'ZCARD', begun = 'ZCARD', turns = 'HLEN',
}

-- Carries out an action on one job of several, so that an unreadable job does not stop the others: that job is set
-- aside, and the answer is nil. An error of Redis is raised, unless it says that a key of the job has another type.
local function isolated(id, action, ...)
  local fine, reply = pcall(action, id, ...)
  if fine then return reply end
  if type(reply) == 'table' and not tostring(reply.err):find('WRONGTYPE', 1, true) then error(reply) end
  for name, look in pairs(SHARED) do
    local answer = redis.pcall(look, key(name))
    if type(answer) == 'table' and answer.err then error({ err = answer.err .. ': ' .. key(name) }) end
  end
  set_aside(id)
end

local function register(name, flags, action)
  redis.register_function({
    function_name = 'reel2_' .. name,
    flags = flags,
    callback = function(keys, args)
      local caller = tonumber(table.remove(args, 1))
      if not caller or caller < SERVES or caller > VERSION then
        return redis.error_reply('REELLIBRARY ' .. text(VERSION))
      end
      -- The first key is that of the jobs, in the caller's namespace: Redis has checked that its user may use it.
      prefix = string.sub(keys[1], 1, -1 - #KEY_NAMES[1])
      -- An earlier program declares fewer keys, since new names are appended to the list.
      for place, fixed in ipairs(KEY_NAMES) do declared[fixed] = keys[place] or prefix .. fixed end
      local clock = redis.call('TIME')
      now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
      return action(args)
    end,
  })
end

-- Registers a function that changes the board.
local function transition(name, action) register(name, {}, action) end

-- Registers a function that only removes, so Redis runs it even with no memory left.
local function removal(name, action) register(name, { 'allow-oom' }, action) end

-- Registers a function that changes nothing. Callers use FCALL_RO.
local function look(name, action) register(name, { 'no-writes' }, action) end

-- Tells callers of any version which version this library is, so it takes neither keys nor a version.
redis.register_function({
  function_name = 'reel2_version', flags = { 'no-writes' }, callback = function() return VERSION end,
})
