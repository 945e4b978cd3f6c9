-- What all functions share: names of keys, events, isolation of unreadable jobs, registration. The library is a head of
-- constants that Swift writes (versions, names, policy), the files of `Shared`, and the files of the functions in the
-- order of their names.
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

-- Whether a value is a whole number from `least` to 2^53, above which a double no longer tells neighbours apart.
local function is_count(value, least) return value and value >= least and value <= 2 ^ 53 and value % 1 == 0 end

-- The error to reply with if the board is of another version, else nil. An empty board gets this version.
local function refuse_schema()
  local found = redis.call('GET', key('schema'))
  if found == SCHEMA then return nil end
  if found then return redis.error_reply('REELSCHEMA ' .. found) end
  -- The backlog of an empty board is counted from its first job on.
  redis.call('HSET', key('control'), 'counted', 1)
  redis.call('SET', key('schema'), SCHEMA)
end

-- Counts a job anew for the backlog. `backlog.lua` defines it.
local recount

-- Sets aside a job with a value that no function writes: none of its passes is given out until a user cancels or
-- removes the job.
local function set_aside(id)
  redis.call('ZADD', key('broken'), now, id)
  for _, list in ipairs({ 'run', 'queue', 'timer', 'tail' }) do redis.call('ZREM', key(list), id) end
  recount(id, true)
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
