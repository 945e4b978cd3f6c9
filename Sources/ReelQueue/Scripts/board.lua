-- The words that every script begins with; this file is put before each of them and never run alone.
--
-- KEYS[1] is the prefix `reel:{main}:`. Every key is that and a name, so that all of them lie in one hash slot.
-- Time is Redis's. Writes stand in an order in which any prefix of them is safe, since a torn AOF can apply one:
--   * a pass is requeued before it is dropped, and `lease` loses its member last: reap then finishes what was torn;
--   * a member of `live` always has its lease;
--   * a job is in `run` before its state says that it runs; claim takes out what does not belong there.
local prefix = KEYS[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local LIMITS = { transient = 5, crash = 3, lost = 20, limit = 2, permanent = 1 }
local CLAIMABLE = { running = true, assembling = true }
local ENDED = { done = true, failed = true, cancelled = true }
local PARTS = { 'passes', 'live', 'done', 'retry', 'fails', 'excluded', 'returned' }

local function key(name) return prefix .. name end

local function job_key(id, part)
  return prefix .. 'job:' .. id .. (part and ':' .. part or '')
end

local function lease_name(id, index, token) return id .. '/' .. index .. '/' .. token end

-- The capped feed for people and programs that watch; nothing is ever computed from it.
local function event(what, id, index, worker)
  redis.call('XADD', key('events'), 'MAXLEN', '~', 10000, '*',
    'event', what, 'job', id, 'index', index or '', 'worker', worker or '')
end

-- A hint for one waiting worker. Losing it is harmless: waiting ends by itself.
local function wake(hints)
  for _ = redis.call('LLEN', key('wake')) + 1, math.min(hints, 64) do redis.call('LPUSH', key('wake'), 1) end
end

-- What `live` says of a pass: token, started (ms), frames decoded, frames encoded, worker.
local function holder(id, index)
  local entry = redis.call('HGET', job_key(id, 'live'), index)
  if not entry then return nil end
  return entry:match('^(%S+) (%d+) (%d+) (%d+) (.*)$')
end

local function hold(id, index, token, worker, lease, started, decoded, encoded)
  redis.call('ZADD', key('lease'), now + lease, lease_name(id, index, token))
  redis.call('HSET', job_key(id, 'live'), index,
    string.format('%s %.0f %.0f %.0f %s', token, started, decoded, encoded, worker))
end

-- The end of every transition that takes a pass from its holder.
local function drop(id, index, token)
  if holder(id, index) == token then redis.call('HDEL', job_key(id, 'live'), index) end
  redis.call('ZREM', key('lease'), lease_name(id, index, token))
end

-- The token that recorded a finished pass.
local function recorded(id, index)
  local entry = redis.call('HGET', job_key(id, 'done'), index)
  return entry and entry:match('^%S+')
end

-- Says that a job has work from `at` on. One that joins starts at the least virtual time: it owes nothing, nor is owed.
local function offer(id, at)
  if at > now then
    redis.call('ZADD', key('timer'), 'LT', at, id)
    return
  end
  local first = redis.call('ZRANGE', key('run'), 0, 0, 'WITHSCORES')
  redis.call('ZADD', key('run'), 'NX', first[2] or 0, id)
  wake(1)
end

local function requeue(id, index, at)
  redis.call('ZADD', job_key(id, 'retry'), at, index)
  offer(id, at)
end

-- A job's last word. Tokens still held learn of it at their next beat.
local function end_job(id, state, retention, failure)
  redis.call('HSET', job_key(id), 'state', state, 'finished', now, 'failure', failure or '')
  redis.call('ZREM', key('run'), id)
  redis.call('ZREM', key('timer'), id)
  redis.call('PEXPIRE', job_key(id), retention)
  for _, part in ipairs(PARTS) do redis.call('PEXPIRE', job_key(id, part), retention) end
  event(state, id)
end

local function fail_job(id, retention, kind, cause, message)
  end_job(id, 'failed', retention, cjson.encode({ kind = kind, cause = cause, message = message }))
end

-- What follows from the set of finished passes: all but the assembly release it, the assembly ends the job.
-- Asked again it does nothing new, so whoever finds a torn transition asks again.
local function settle(id, retention)
  local state, passes = unpack(redis.call('HMGET', job_key(id), 'state', 'passes'))
  passes = tonumber(passes)
  if not CLAIMABLE[state] then return end
  local finished = redis.call('HLEN', job_key(id, 'done'))
  if redis.call('HEXISTS', job_key(id, 'done'), passes) == 1 then
    end_job(id, 'done', retention)
  elseif finished >= passes and redis.call('HEXISTS', job_key(id, 'live'), passes) == 0 then
    if state == 'running' then
      redis.call('HSET', job_key(id), 'state', 'assembling')
      event('assembling', id)
    end
    redis.call('ZADD', job_key(id, 'retry'), 'NX', now, passes)
    offer(id, now)
  end
end

-- Attempts that failed at a pass: {attempts = {cause = count}, message = the last one's, crashed = {worker …}}.
local function failures(id, index)
  local entry = redis.call('HGET', job_key(id, 'fails'), index)
  return entry and cjson.decode(entry) or { attempts = {}, message = '', crashed = {} }
end

-- Charges an attempt and says whether the pass may be tried again.
local function charge(id, index, cause, worker, message)
  local record = failures(id, index)
  record.attempts[cause] = (record.attempts[cause] or 0) + 1
  record.message = message
  if cause == 'crash' then table.insert(record.crashed, worker) end
  redis.call('HSET', job_key(id, 'fails'), index, cjson.encode(record))
  return record.attempts[cause] < LIMITS[cause], record.attempts[cause]
end

-- A worker's host, as its beats tell; its own name before the first.
local function host_of(worker)
  return redis.call('HGET', key('worker:' .. worker), 'host') or worker
end
