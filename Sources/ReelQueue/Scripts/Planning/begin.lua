-- begin: makes a job in state probing and leases its probe to the caller, or answers what is there already.
--
-- args     1 job  2 the job as JSON  3 need of the probe (bytes)  4 protocol version
--          5 virtual time that one claim costs  6 retention (ms)  7 lease (ms)
--          8 token for the lease, random  9 name of its holder  10 how often the job has begun again ('' for never)
--          11 the submission as JSON ('' for none); callers before version 10 give neither
-- Reply    an integer   the bytes that the probe may take: the token holds it now
--          'probing'    another process holds the probe, or a user paused the job
--          'running'    running or assembling
--          'busy'       the job is being removed: ask again
--          an error if the board is of another version
-- Keeps    a job that has ended is made anew, and nothing of the old one is left. The lease and its holder are written
--          before the job is, so a job that is probing always has a probe that is held, in `retry`, or free.
transition('begin', function(args)
  local id, retention, lease, token, worker = args[1], tonumber(args[6]), tonumber(args[7]), args[8], args[9]
  local refusal = refuse_schema()
  if refusal then return refusal end

  local state, created, paused = unpack(redis.call('HMGET', job_key(id), 'state', 'created', 'paused'))
  if CLAIMABLE[state] then return 'running' end
  if state == 'probing' and (paused or holder(id, PROBE)) then return 'probing' end
  if ENDED[state] and removal_of(id) then return 'busy' end

  -- Jobs whose keys have expired leave the list of jobs.
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', key('jobs'), '-inf', now - retention, 'LIMIT', 0, 100)) do
    if redis.call('EXISTS', job_key(old)) == 0 then unlist(old) end
  end

  local made = state ~= 'probing'
  if made then
    created = now
    leave_ended(id)
    redis.call('ZREM', key('broken'), id)
    withhold_webhooks(id)
    redis.call('UNLINK', job_key(id))
    for _, part in ipairs(PARTS) do redis.call('UNLINK', job_key(id, part)) end
  end
  redis.call('ZADD', key('jobs'), created, id)
  redis.call('ZADD', key('active'), created, id)
  set_holder(id, PROBE, 'live', token, worker, lease, text(now), '0', '0')
  local fields = {
    'state', 'probing', 'job', args[2], 'passes', 0, 'plan', 0, 'need', args[3], 'protocol', args[4], 'encoders', '',
    'share', args[5], 'frames', 0, 'effort', 1, 'cursor', 0, 'created', created, 'offered', now,
  }
  for name, value in pairs({ run = args[10] or '', submission = args[11] or '' }) do
    if made and value ~= '' then
      table.insert(fields, name)
      table.insert(fields, value)
    end
  end
  redis.call('HSET', job_key(id), unpack(fields))
  reweigh(id)
  redis.call('ZREM', job_key(id, 'retry'), PROBE)
  recount(id, true)
  event('begun', id, PROBE, worker)
  return need_of(failures(id, PROBE), tonumber(args[3]))
end)
