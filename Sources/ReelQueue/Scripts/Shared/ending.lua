-- The end of a job, its webhooks, and how it runs again.

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
  recount(id, true)
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
    recount(id)
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

-- The process that removes an ended job, nil if there is none or its lease on that has lapsed. Until then the job
-- cannot begin again.
local function removal_of(id)
  local by, till = (redis.call('HGET', job_key(id), 'removing') or ''):match('^(.+) (%d+)$')
  return by and tonumber(till) > now and by or nil
end
