-- The order of jobs in `queue` and `run`, and how a pass that was taken or handed back comes into line again.

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
  local others = (redis.call('HGET', key('turns'), begun) or 1) - 1
  if others > 0 then
    redis.call('HSET', key('turns'), begun, text(others))
  else
    redis.call('HDEL', key('turns'), begun)
  end
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
