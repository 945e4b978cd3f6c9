-- fail: takes a pass back from a worker that could not do it, and does what the cause asks for.
--
-- KEYS[1]  prefix
-- ARGV     1 job  2 index  3 token  4 worker  5 cause  6 kind  7 message  8 lease (ms)
--          9 first wait after a transient failure (ms)  10 wait after a full disk (ms)  11 retention (ms)
-- Reply    'retry', 'job-failed', or 'late' (the token does not hold the pass, or the job has ended)
-- Keeps    only the holder can fail a pass; a charged cause never passes its limit without failing the job.
local id, index, token, worker, cause = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local kind, message, lease = ARGV[6], ARGV[7], tonumber(ARGV[8])
local backoff, space_wait, retention = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local state, need = unpack(redis.call('HMGET', job_key(id), 'state', 'need'))
need = tonumber(need)

if not CLAIMABLE[state] or not part_of(id, index, token) or recorded(id, index) then
  drop(id, index, token)
  return 'late'
end

local function give_up(why)
  fail_job(id, retention, kind, cause, why, cause ~= 'incompatible' and index or nil)
  drop(id, index, token)
  return 'job-failed'
end

local function try_again(at)
  redis.call('HSET', job_key(id, 'returned'), index, token)
  requeue(id, index, at)
  drop(id, index, token)
  event('retried', id, index, worker)
  return 'retry'
end

-- Only a slot larger than this one was can do it, if there is one.
local function larger_slot_is_there()
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('workers'), now - lease, '+inf')) do
    if tonumber(redis.call('HGET', key('worker:' .. name), 'memory') or 0) >= 2 * need then return true end
  end
  return false
end

if cause == 'no-space' then
  redis.call('HSET', job_key(id), 'note', 'waiting for disk space on ' .. host_of(worker) .. ': ' .. message,
    'noted', index)
  return try_again(now + space_wait)
elseif cause == 'incompatible' then
  if exclude(id, worker, message, lease) then return give_up('no worker can take this job: ' .. message) end
  return try_again(now)
end

local again, count = charge(id, index, cause, worker, token, message)
if again and (cause ~= 'limit' or larger_slot_is_there()) then
  return try_again(cause == 'transient' and now + backoff * 2 ^ (count - 1) or now)
elseif cause == 'permanent' then
  return give_up(message)
elseif cause == 'limit' then
  return give_up(string.format('pass %d needs more memory than the %.0f bytes planned for it%s: %s', index, need,
    count > 1 and ', and than twice that' or ', and no worker has twice that', message))
end
return give_up('pass ' .. index .. ' failed ' .. count .. ' times: ' .. message)
