-- Failed attempts, and the workers and hosts that a job excludes.

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

-- Whether a live worker on another host than these could try a pass that needs `need` bytes.
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
