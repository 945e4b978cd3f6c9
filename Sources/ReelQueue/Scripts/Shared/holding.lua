-- Entries of `live`, `copies` and `done`: which token holds a pass, and which one recorded its result.

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

-- Ends a token's hold on a pass and its lease, and counts the job anew; each transition that takes a pass from a holder
-- ends with it. If the pass has a backup attempt, that becomes the holder in `live`.
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
  recount(id)
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

-- Removes the results of a job's passes, and the passes that release 0.1.0 put on the board.
local function remove_results(id)
  for _, part in ipairs({ 'passes', 'done', 'map', 'diagnostics' }) do redis.call('UNLINK', job_key(id, part)) end
  redis.call('HDEL', job_key(id), 'sum')
end

-- A pass's kind ('video', 'audio', 'assembly', 'probe') and the hash of the plan that has it, '' for the probe. If
-- release 0.1.0 published the job, the pass as JSON instead of the hash, '' for the assembly. Raises an error if the
-- job has no such pass.
local function pass_of(id, index)
  if text(index) == PROBE then return 'probe', '' end
  local passes, sound, hash = unpack(redis.call('HMGET', job_key(id), 'passes', 'sound', 'hash'))
  if tonumber(index) == tonumber(passes) then return 'assembly', hash or '' end
  assert(tonumber(index) < tonumber(passes))
  if sound and sound ~= '' then return tonumber(index) < tonumber(sound) and 'audio' or 'video', assert(hash) end
  local kind, pass = (redis.call('HGET', job_key(id, 'passes'), index) or ''):match('^(%S+) (.*)$')
  return assert(kind), pass
end

-- Whether a pass can be worked on in this state of its job: the probe while the job is probing, the others after that.
local function is_open(state, index)
  if tonumber(index) < 0 then return state == 'probing' end
  return CLAIMABLE[state]
end
