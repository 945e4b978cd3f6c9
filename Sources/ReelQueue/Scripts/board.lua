-- What the transitions share. The library is a head of constants that Swift writes (versions, names, policy), this
-- file, and the files of the transitions in the order of their names. `Library.swift` joins them end to end.
--
-- A call is `FCALL reel2_NAME`. Its KEYS are all keys of a fixed name, in the order of KEY_NAMES; its arguments are the
-- version that the caller knows, then those of the transition. Keys of jobs and workers are made of PREFIX and an id.
-- The braces in PREFIX put all of them in one hash slot.
-- Time is Redis's. Writes stand in an order in which any prefix of them is safe, since a torn AOF can apply one:
--   * a pass is requeued before it is dropped, and `lease` loses its member last: reap then finishes what was torn;
--   * a member of `live` always has its lease;
--   * a job is in `run` before its state says that it runs; claim takes out what does not belong there.

-- Of the call that is carried out: milliseconds since 1970, and the keys that it declared, by name.
local now, declared = 0, {}

-- The probe (index and plan are made by it) is a pass of this index, while its job is probing.
local PROBE = '-1'

local CLAIMABLE = { running = true, assembling = true }

local ENDED = { done = true, failed = true, cancelled = true }

local PARTS = {
  'passes', 'live', 'copies', 'done', 'map', 'retry', 'fails', 'excluded', 'returned', 'pace', 'times',
  'diagnostics', 'waiters', 'ended',
}

-- A key of the whole board.
local function key(name) return declared[name] end

local function worker_key(worker) return PREFIX .. 'worker:' .. worker end

-- A whole number as Redis wants it: an argument that is a number costs more than a call with one that is text.
local function text(number) return string.format('%d', number) end

local function job_key(id, part)
  if part then return PREFIX .. 'job:' .. id .. ':' .. part end
  return PREFIX .. 'job:' .. id
end

local function lease_name(id, index, token) return id .. '/' .. index .. '/' .. token end

-- The capped feed for people and programs that watch; nothing is ever computed from it, nor waits for it.
local function event(what, id, index, worker)
  redis.pcall('XADD', key('events'), 'MAXLEN', '~', EVENTS_KEPT, '*',
    'event', what, 'job', id, 'index', index or '', 'worker', worker or '')
end

-- A hint for one waiting worker. Losing it is harmless: waiting ends by itself.
local function wake(hints)
  for _ = redis.call('LLEN', key('wake')) + 1, math.min(hints, HINTS) do redis.call('LPUSH', key('wake'), 1) end
end

-- Work done, for people who ask how fast it goes.
local function keep_pace(id, frames, passes)
  local number = math.floor(now / PACE_SLOT)
  local slot, place = text(number), text(number % PACE_SLOTS)
  for _, name in ipairs({ key('pace'), job_key(id, 'pace') }) do
    local stamp, f, p = (redis.call('HGET', name, place) or ''):match('^(%d+) (%d+) (%d+)$')
    if stamp ~= slot then f, p = 0, 0 end
    redis.call('HSET', name, place, string.format('%s %d %d', slot, f + frames, p + passes))
  end
end

-- An entry of `live`, or of `copies`: token, started (ms), frames decoded, frames encoded, worker.
local function parse(entry) return entry:match('^(%S+) (%d+) (%d+) (%d+) (.*)$') end

-- The token of an entry of `live`, `copies` or `done`, where there is one.
local function token_of(entry) return entry and entry:match('^%S+') end

-- Who holds a pass; with `part` 'copies', who works at it a second time. That one is there beside a holder only.
local function holder(id, index, part)
  local entry = redis.call('HGET', job_key(id, part or 'live'), index)
  if not entry then return nil end
  return parse(entry)
end

-- The part in which a token holds a pass and its entry there, parsed; nil and that of `live` where it does not.
local function part_of(id, index, token)
  local live = redis.call('HGET', job_key(id, 'live'), index)
  if token_of(live) == token then return 'live', parse(live) end
  local copy = redis.call('HGET', job_key(id, 'copies'), index)
  if token_of(copy) == token then return 'copies', parse(copy) end
  if live then return nil, parse(live) end
end

-- Started, decoded and encoded are texts, as they are in the entry.
local function hold(id, index, part, token, worker, lease, started, decoded, encoded)
  redis.call('ZADD', key('lease'), text(now + lease), lease_name(id, index, token))
  redis.call('HSET', job_key(id, part), index,
    token .. ' ' .. started .. ' ' .. decoded .. ' ' .. encoded .. ' ' .. worker)
end

-- The end of every transition that takes a pass from a holder. One that works at it a second time then has it alone.
local function drop(id, index, token)
  local copy = redis.call('HGET', job_key(id, 'copies'), index)
  if token_of(copy) == token then
    redis.call('HDEL', job_key(id, 'copies'), index)
    copy = nil
  end
  if holder(id, index) == token then
    if copy then
      redis.call('HSET', job_key(id, 'live'), index, copy)
      redis.call('HDEL', job_key(id, 'copies'), index)
    else
      redis.call('HDEL', job_key(id, 'live'), index)
    end
  end
  redis.call('ZREM', key('lease'), lease_name(id, index, token))
end

-- Whether a token holds the probe of a job that is probing; its lease is extended then.
local function keep_probe(id, token, lease)
  if redis.call('HGET', job_key(id), 'state') ~= 'probing' or holder(id, PROBE) ~= token then return false end
  redis.call('ZADD', key('lease'), text(now + lease), lease_name(id, PROBE, token))
  return true
end

-- The token that recorded a finished pass.
local function recorded(id, index)
  return token_of(redis.call('HGET', job_key(id, 'done'), index))
end

-- What the engine of a finished pass has to tell, each thing once: readers need not look through all results. `lines`
-- has one diagnostic a line, as text that nothing here reads.
local function keep_diagnostics(id, index, lines)
  for line in lines:gmatch('[^\n]+') do
    if redis.call('HLEN', job_key(id, 'diagnostics')) >= DIAGNOSTICS_KEPT then return end
    redis.call('HSETNX', job_key(id, 'diagnostics'), line, index)
  end
end

-- A pass's kind ('video', 'audio', 'assembly', 'probe') and what it is as JSON, '' for the last two. Raises an error
-- where the job has no such pass.
local function pass_of(id, index)
  if text(index) == PROBE then return 'probe', '' end
  local entry = redis.call('HGET', job_key(id, 'passes'), index)
  if entry then return entry:match('^(%S+) (.*)$') end
  assert(tonumber(index) == tonumber(redis.call('HGET', job_key(id), 'passes')))
  return 'assembly', ''
end

-- Whether a pass can be worked on in this state: the probe while its job is probing, the others after that.
local function is_open(state, index)
  if tonumber(index) < 0 then return state == 'probing' end
  return CLAIMABLE[state]
end

-- What PREFIX was before version 2: a board of version 1 has these keys, and no `schema`.
local OLD = 'reel:{main}:'

-- Removes what a board of version 1 holds, whose jobs have all ended. Torn, it is gone on with by the next that comes.
local function remove_old()
  local old_parts = {
    'passes', 'live', 'copies', 'done', 'map', 'retry', 'fails', 'excluded', 'returned', 'pace', 'times', 'warnings',
    'ended',
  }
  for _, id in ipairs(redis.call('ZRANGE', OLD .. 'jobs', 0, -1)) do
    redis.call('UNLINK', OLD .. 'job:' .. id)
    for _, part in ipairs(old_parts) do redis.call('UNLINK', OLD .. 'job:' .. id .. ':' .. part) end
  end
  for _, name in ipairs(redis.call('ZRANGE', OLD .. 'workers', 0, -1)) do
    redis.call('UNLINK', OLD .. 'worker:' .. name)
  end
  for _, name in ipairs({
    'workers', 'active', 'failed', 'lease', 'run', 'virtual', 'timer', 'tail', 'wake', 'pace', 'control', 'events',
    'jobs',
  }) do
    redis.call('UNLINK', OLD .. name)
  end
end

-- Nil where the keys are what this script knows, which an empty board becomes by this, and one of version 1 of which
-- every job has ended. Else the refusal to reply with.
local function refuse_schema()
  local found = redis.call('GET', key('schema'))
  if found == SCHEMA then return nil end
  if found then return redis.error_reply('REELSCHEMA ' .. found) end
  if redis.call('EXISTS', OLD .. 'jobs') == 1 then
    if redis.call('ZCARD', OLD .. 'active') > 0 then return redis.error_reply('REELSCHEMA 1') end
    remove_old()
  end
  redis.call('SET', key('schema'), SCHEMA)
end

-- Puts a job in line. One that joins starts at the virtual time that claims have come to, or at its own where that is
-- later: it owes nothing, nor is owed.
local function join(id)
  local own = tonumber(redis.call('HGET', job_key(id), 'virtual') or 0)
  redis.call('ZADD', key('run'), 'NX', math.max(own, tonumber(redis.call('GET', key('virtual')) or 0) or 0), id)
  wake(1)
end

-- Says that a job has work from `at` on; a paused one joins when it is resumed.
local function offer(id, at)
  if redis.call('HEXISTS', job_key(id), 'paused') == 1 then return end
  if at > now then redis.call('ZADD', key('timer'), 'LT', at, id) else join(id) end
end

-- Takes a job out of `run`; it comes back by offer.
local function withdraw(id)
  local score = redis.call('ZSCORE', key('run'), id)
  if score and redis.call('EXISTS', job_key(id)) == 1 then redis.call('HSET', job_key(id), 'virtual', score) end
  redis.call('ZREM', key('run'), id)
end

-- For a pass that is taken from a holder. False where two work at it, so that the other goes on; and for an assembly
-- that began early, since the last pass releases it again.
local function requeue(id, index, at)
  local copy = holder(id, index, 'copies')
  if copy and copy ~= holder(id, index) then return false end
  local passes = tonumber(redis.call('HGET', job_key(id), 'passes'))
  if tonumber(index) == passes and redis.call('HLEN', job_key(id, 'done')) < passes then return false end
  redis.call('ZADD', job_key(id, 'retry'), at, index)
  offer(id, at)
  return true
end

-- Takes a pass back from a holder that hands it back, without charge; whether the token held it.
local function hand_back(id, index, token, state)
  local held = part_of(id, index, token) ~= nil
  if held and is_open(state, index) and not recorded(id, index) then
    redis.call('HSET', job_key(id, 'returned'), index, token)
    requeue(id, index, now)
    event('released', id, index)
  end
  drop(id, index, token)
  return held
end

-- A job's last word. Tokens still held learn of it at their next beat. `why` has further fields and their values.
local function end_job(id, state, retention, why)
  redis.call('HSET', job_key(id), 'state', state, 'finished', now, unpack(why or {}))
  withdraw(id)
  redis.call('ZREM', key('timer'), id)
  redis.call('ZREM', key('tail'), id)
  -- Wakes programs of builds before 0.1.0 that wait for it; later ones wait for the event.
  redis.call('XADD', job_key(id, 'ended'), '*', 'state', state)
  redis.call('PEXPIRE', job_key(id), retention)
  for _, part in ipairs(PARTS) do redis.call('PEXPIRE', job_key(id, part), retention) end
  redis.call('ZREM', key('active'), id)
  event(state, id)
end

-- How it failed ('permanent', 'exhausted', 'lost', 'limit', 'nobody'); `index` is the pass for which it did, nil where
-- there is none; `by` the worker or host; `reason` the last attempt's, as text that nothing here reads.
local function fail_job(id, retention, how, index, attempts, by, reason)
  local state, need = unpack(redis.call('HMGET', job_key(id), 'state', 'need'))
  redis.call('ZADD', key('failed'), now, id)
  end_job(id, 'failed', retention, {
    'how', how, 'failed', index or '', 'attempts', attempts or 0, 'by', by or '', 'planned', need,
    'reason', reason or '', 'refused', state == 'probing' and 1 or 0,
  })
end

-- What follows from the set of finished passes: all but the assembly release it, the assembly ends the job.
-- Asked again it does nothing new, so whoever finds a torn transition asks again.
local function settle(id, retention)
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
    -- One that failed waits until it is due, however often this is asked.
    offer(id, tonumber(redis.call('ZSCORE', job_key(id, 'retry'), passes)))
  end
end

-- A job that ended runs again: what was charged is forgotten, every pass is looked at anew, finished ones stay so.
local function run_again(id)
  redis.call('ZADD', key('active'), redis.call('HGET', job_key(id), 'created'), id)
  redis.call('PERSIST', job_key(id))
  for _, part in ipairs(PARTS) do redis.call('PERSIST', job_key(id, part)) end
  redis.call('DEL', job_key(id, 'fails'), job_key(id, 'excluded'), job_key(id, 'retry'), job_key(id, 'ended'))
  redis.call('HDEL', job_key(id), 'note', 'noting', 'noted', 'copied')
  redis.call('ZREM', key('failed'), id)
end

-- A worker's host, as its beats tell; its own name before the first.
local function host_of(worker)
  return redis.call('HGET', worker_key(worker), 'host') or worker
end

-- Attempts that failed at a pass: {attempts = {cause = count}, crashed = {worker …}, hosts = {cause = {host …}},
-- whole = runs that were whole at some claim's begin, recent = the last ones, each {cause, reason, worker, host,
-- token, at}}. A reason is text that nothing here reads; one that is missing is that the worker vanished.
local function failures(id, index)
  local entry = redis.call('HGET', job_key(id, 'fails'), index)
  return entry and cjson.decode(entry) or { attempts = {}, crashed = {}, hosts = {}, whole = 0, recent = {} }
end

local function keep_failures(id, index, record)
  redis.call('HSET', job_key(id, 'fails'), index, cjson.encode(record))
end

local function contains(list, value)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

-- Charges an attempt and says whether the pass may be tried again, how often it has failed so, and on which hosts.
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
  keep_failures(id, index, record)
  return record.attempts[cause] < LIMITS[cause], record.attempts[cause], hosts
end

-- After a pass ran out of memory, the bytes that its next holder must have free: twice the job's need.
local function need_of(record, need)
  return record.attempts.limit and 2 * need or need
end

-- Who removes an ended job, as long as the lease on that lasts; until then it must not begin again.
local function removal_of(id)
  local by, till = (redis.call('HGET', job_key(id), 'removing') or ''):match('^(.+) (%d+)$')
  return by and tonumber(till) > now and by or nil
end

-- Whether a job excludes every live worker.
local function nobody_is_left(id, lease)
  local live = redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')
  for _, name in ipairs(live) do
    if redis.call('HEXISTS', job_key(id, 'excluded'), name) == 0 then return false end
  end
  return #live > 0
end

-- A worker gets nothing of a job any more. True where that is so for every live worker: none is left. Workers that have
-- left the registry are forgotten.
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
  return nobody_is_left(id, lease)
end

-- Whether a live worker on none of these hosts could try a pass that takes so much memory.
local function others_could(id, hosts, need, lease)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')) do
    if not contains(hosts, host_of(name)) and redis.call('HEXISTS', job_key(id, 'excluded'), name) == 0
      and redis.call('HEXISTS', key('control'), 'drain:' .. name) == 0
      and tonumber(redis.call('HGET', worker_key(name), 'memory') or 0) >= need then
      return true
    end
  end
  return false
end

-- Whether a field is a whole number that is large enough, and that arithmetic still tells from its neighbours.
local function is_count(value, least) return value and value >= least and value <= 2 ^ 53 and value % 1 == 0 end

-- Sets a job aside of which the board holds something that no script writes: nothing of it is given out or looked at
-- any more, until a person removes it.
local function set_aside(id)
  redis.call('ZADD', key('broken'), now, id)
  for _, list in ipairs({ 'run', 'timer', 'tail' }) do redis.call('ZREM', key(list), id) end
  event('broken', id)
end

-- Keys of the whole board, each with what tells whether it is of its type: what is wrong with one is no job's fault.
local SHARED = {
  run = 'ZCARD', timer = 'ZCARD', tail = 'ZCARD', lease = 'ZCARD', workers = 'ZCARD', active = 'ZCARD',
  failed = 'ZCARD', wake = 'LLEN', control = 'HLEN', virtual = 'GET',
}

-- Does something to one job of several. What is wrong with that job ends there: the job is set aside, and the answer is
-- nil. What Redis refuses is no fault of a job, unless one of its keys has another type.
local function apart(id, action, ...)
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
      -- An earlier program declares fewer keys: new names are appended to the list.
      for place, fixed in ipairs(KEY_NAMES) do declared[fixed] = keys[place] or PREFIX .. fixed end
      local clock = redis.call('TIME')
      now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
      return action(args)
    end,
  })
end

-- A function that changes the board.
local function transition(name, action) register(name, {}, action) end

-- One that removes only, so that it works in a Redis that has no memory left.
local function removal(name, action) register(name, { 'allow-oom' }, action) end

-- One that changes nothing, called by FCALL_RO.
local function look(name, action) register(name, { 'no-writes' }, action) end

-- For callers that know another version: which this one is. It asks for no keys and no version.
redis.register_function({
  function_name = 'reel2_version', flags = { 'no-writes' }, callback = function() return VERSION end,
})
