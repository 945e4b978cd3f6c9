-- claim: leases one pass of the job with the least virtual time among those that the worker can take: of the jobs that
-- are begun or, if they have nothing for it, of the next in the queue, which begins with that.
--
-- args     1 worker  2 memory free (bytes)  3 protocol version  4 encoder builds, one a line  5 lease (ms)
--          6 token for the lease, random  7 rank to begin at, in `run` followed by `queue`  8 retention (ms)
-- Reply    {job, index, kind of the pass, hash of the plan ('' for the probe; of a job of release 0.1.0 what `pass_of`
--          gives), bytes that it may take, plan}
--          an integer: nothing yet, ask again from this rank (a call looks at 256 jobs and 1000 passes at most)
--          nil: nothing for this worker
--          an error if the board is of another version
-- Keeps    about as many jobs are begun as slots are at work, in the order of the queue; one of greater weight than all
--          that are begun begins at once, and so does the first job of an owner who has none begun. A job whose
--          assembly is released goes first. A job that cannot be read is set aside, and others go on. A pass has one
--          holder: what is in `live` or `done` is not given out. Within a job a retry that is due goes first, then the
--          pass at the cursor. Need, protocol, pause, drained and excluded workers are respected. A worker without a
--          job's encoders is excluded from it. A job that excludes every live worker fails. If there is nothing else, a
--          late pass at its job's end gets a backup attempt by one worker; the first result counts. If no pass is late,
--          either, the assembly begins with what is finished, and waits for the rest. A job that is probing gives out
--          its probe, which needs no encoders.
transition('claim', function(args)
  local worker, memory, protocol, lease = args[1], tonumber(args[2]), args[3], tonumber(args[5])
  local token, rank, retention = args[6], tonumber(args[7]), tonumber(args[8])
  local BATCH, STEPS, RETRIES = 256, 1000, 16

  local encoders = {}
  for build in args[4]:gmatch('[^\n]+') do encoders[build] = true end

  -- Most jobs exclude no worker, and then one command is enough.
  local function is_excluded(id)
    return redis.call('EXISTS', job_key(id, 'excluded')) == 1
      and redis.call('HEXISTS', job_key(id, 'excluded'), worker) == 1
  end

  local function can_take(job) return job.need <= memory and job.protocol == protocol end

  -- Whether workers that have not beaten for a lease can be taken for dead. They cannot right after a start of Redis,
  -- after a change of its clock, which `reap` notices, or if no process has reaped for a lease.
  local function can_tell_dead_workers()
    local last, grace = unpack(redis.call('HMGET', key('control'), 'reaped', 'grace'))
    return not has_just_started(lease) and last and math.abs(now - tonumber(last)) <= math.max(lease, 0)
      and now >= tonumber(grace or now)
  end

  -- Fails a job that excludes every live worker. That check also runs when a worker is excluded; here it catches a job
  -- whose last worker died afterwards.
  local function fail_if_all_excluded(id)
    if not excludes_all_live(id, lease) or not can_tell_dead_workers() then return false end
    local reason = redis.call('HGET', job_key(id, 'excluded'), worker):match('\n(.*)')
    fail_job(id, retention, 'nobody', nil, nil, host_of(worker), reason)
    return true
  end

  local function missing_encoder(job)
    for build in job.encoders:gmatch('[^\n]+') do
      if not encoders[build] then return build end
    end
    return nil
  end

  -- Whether a retry is left for other workers. A pass that crashed on this worker goes to another worker, if one claims
  -- it within a lease; meanwhile this one begins other jobs, which shows whether the job or the machine is bad. A pass
  -- that this host reported as impossible goes to another host, which may be busy for longer. A pass that ran out of
  -- memory goes to a slot with more.
  local function is_for_others(id, index, due, job)
    local record = failures(id, index)
    if need_of(record, job.need) > memory then return true end
    local refused_on = record.hosts.permanent or {}
    if contains(refused_on, host_of(worker)) and now - due <= PATIENCE * lease
      and another_host_could(id, refused_on, need_of(record, job.need), lease) then
      return true
    end
    if now - due > lease then return false end
    local here, seen = false, {}
    local others = redis.call('ZCOUNT', key('workers'), now - lease, '+inf')
    for _, name in ipairs(record.crashed) do
      here = here or name == worker
      local beat = not seen[name] and redis.call('ZSCORE', key('workers'), name)
      if beat and tonumber(beat) >= now - lease then others = others - 1 end
      seen[name] = true
    end
    return here and (others > 0 or redis.call('EXISTS', key('queue')) == 1)
  end

  local function is_taken(id, index)
    return redis.call('HEXISTS', job_key(id, 'live'), index) == 1
      or redis.call('HEXISTS', job_key(id, 'done'), index) == 1
  end

  -- The next retry that is due and that this worker may take, and since when it is due; else nil twice, then whether
  -- other workers may take one that is due, and whether there are any retries, due or not.
  local function next_retry(id, job)
    while true do
      local first = redis.call('ZRANGE', job_key(id, 'retry'), 0, RETRIES - 1, 'WITHSCORES')
      local for_others, removed = false, false
      for i = 1, #first, 2 do
        local index, due = first[i], tonumber(first[i + 1])
        if due > now then break end
        if is_taken(id, index) then
          redis.call('ZREM', job_key(id, 'retry'), index)
          removed = true
        elseif is_for_others(id, index, due, job) then
          for_others = true
        else
          return tonumber(index), due
        end
      end
      if removed then recount(id) end
      if for_others or not removed then return nil, nil, for_others, #first > 0 end
    end
  end

  -- The first pass from the cursor on that is not held, finished or in `retry`; else nil, and the index at which the
  -- search stopped.
  local function next_from_cursor(id, job, some_wait)
    local cursor, stop = job.cursor, math.min(job.passes, job.cursor + STEPS)
    while cursor < stop do
      local index = text(cursor)
      local waits = some_wait and redis.call('ZSCORE', job_key(id, 'retry'), index)
      if not waits and not is_taken(id, index) then return cursor end
      cursor = cursor + 1
    end
    return nil, cursor
  end

  local function answer(id, index, need)
    wake(1)
    local kind, hash = pass_of(id, index)
    return { id, tonumber(index), kind, hash, need, tonumber(redis.call('HGET', job_key(id), 'plan')) }
  end

  -- `since` is the time from which the pass could be claimed; nil for the probe and the assembly, whose waits are not
  -- counted.
  local function lease_pass(id, place, from_retry, job, since)
    local index, need = text(place), job.need
    -- Raises an error for a pass that cannot be read, before anything is written.
    pass_of(id, index)
    begin_job(id)
    set_holder(id, index, 'live', token, worker, lease, text(now), '0', '0')
    if from_retry then
      redis.call('ZREM', job_key(id, 'retry'), index)
      need = need_of(failures(id, index), need)
    else
      -- A pass at the cursor was never given out, so it has no failures.
      redis.call('HSET', job_key(id), 'cursor', text(place + 1))
    end
    redis.call('ZADD', key('run'), job.virtual + job.share, id)
    if job.virtual > (tonumber(redis.call('GET', key('virtual')) or 0) or 0) then
      redis.call('SET', key('virtual'), job.virtual)
    end
    redis.call('HSETNX', job_key(id), 'taken', now)
    recount(id, false, { job.state, job.passes, job.cursor, nil, job.offered })
    event('claimed', id, index, worker)
    if since then
      local waited = math.max(now - since, 0)
      count({ bucket('wait', waited), 1, waited })
    end
    return answer(id, index, need)
  end

  -- Removes a job without work from `run`, until a pass is requeued or its next retry is due. If passes are held, the
  -- job goes into `tail`, where claims look for a late pass.
  local function leave_run_until_work(id)
    local later = redis.call('ZRANGE', job_key(id, 'retry'), 0, 0, 'WITHSCORES')
    if later[2] then redis.call('ZADD', key('timer'), 'LT', later[2], id) end
    if redis.call('HLEN', job_key(id, 'live')) > 0 then redis.call('ZADD', key('tail'), 'NX', now, id) end
    leave_line(id)
  end

  -- The fields of a job that claim needs; `virtual` is its virtual time if it is in line. Raises an error if a job
  -- that can be worked on has a field without a valid value.
  local function read_job(id, virtual)
    local fields = redis.call('HMGET', job_key(id),
      'state', 'passes', 'need', 'protocol', 'encoders', 'cursor', 'share', 'paused', 'plan', 'offered')
    local job = {
      state = fields[1], passes = tonumber(fields[2]), need = tonumber(fields[3]), protocol = fields[4],
      encoders = fields[5], cursor = tonumber(fields[6]), share = tonumber(fields[7]), paused = fields[8],
      virtual = tonumber(virtual), offered = tonumber(fields[10]),
    }
    if CLAIMABLE[job.state] or job.state == 'probing' then
      assert(is_count(job.passes, 0) and job.passes <= MOST_PASSES and is_count(job.need, 1) and is_count(job.cursor, 0)
        and is_count(tonumber(fields[9]), 0)
        and job.share and job.share > 0 and job.share < math.huge and job.protocol and job.encoders)
    else
      assert(ENDED[job.state] or redis.call('EXISTS', job_key(id)) == 0)
    end
    return job
  end

  -- Adds the fields that claim needs only when every remaining pass is held.
  local function read_tail_fields(id, job)
    local fields = redis.call('HMGET', job_key(id), 'frames', 'copied', 'effort', 'sound')
    job.frames, job.backups, job.effort = tonumber(fields[1] or 0), tonumber(fields[2] or 0), tonumber(fields[3] or 1)
    job.videos = math.max(job.passes - (tonumber(fields[4]) or 0), 1)
  end

  -- Milliseconds that a holder will still need, at its pace up to its last beat; 0 before the first beat. This assumes
  -- that a job's passes of video are equal and that encoding a frame takes `effort` times as long as decoding one.
  local function time_left(job, started, decoded, encoded, by)
    local beat = tonumber(redis.call('ZSCORE', key('workers'), by) or 0)
    if beat <= tonumber(started) then return 0 end
    local all = (1 + job.effort) * job.frames / job.videos
    local done = math.min(decoded + job.effort * encoded, all)
    return done > 0 and (beat - started) * (all - done) / done - (now - beat) or now - started
  end

  -- Whether this worker may make a backup attempt at a pass: one of video that has none yet, that the worker does not
  -- hold, and that is not left for others.
  local function may_back_up(id, index, by, job)
    if by == worker or index >= job.passes then return false end
    for _, part in ipairs({ 'copies', 'done' }) do
      if redis.call('HEXISTS', job_key(id, part), index) == 1 then return false end
    end
    return pass_of(id, index) == 'video' and not is_for_others(id, index, now, job)
  end

  -- The pass that most needs a backup attempt: the one with the longest time left, and the least index of equals, if
  -- that time is more than LAG times what this worker took for its last pass of the job. Nil if there is none.
  local function late_pass(id, job)
    local own = tonumber(redis.call('HGET', job_key(id, 'times'), worker))
    if not own then return nil end
    local longest, found = LAG * own, nil
    local live = redis.call('HGETALL', job_key(id, 'live'))
    for i = 1, #live, 2 do
      local index, _, started, decoded, encoded, by = tonumber(live[i]), parse(live[i + 1])
      local left = time_left(job, started, decoded, encoded, by)
      if (left > longest or found and left == longest and index < found) and may_back_up(id, index, by, job) then
        longest, found = left, index
      end
    end
    return found
  end

  -- Whether the assembly can begin although passes are still held: nothing else can be given out, no job waits to
  -- begin, the assembly fits into memory (it may have run out of memory before), and what it begins with is finished:
  -- all sound and the first video pass.
  local function may_assemble(id, job)
    if job.state ~= 'running' or redis.call('EXISTS', key('queue')) == 1
      or redis.call('HLEN', job_key(id, 'live')) == 0 or redis.call('ZCARD', job_key(id, 'retry')) > 0
      or redis.call('HEXISTS', job_key(id, 'live'), job.passes) == 1
      or need_of(failures(id, text(job.passes)), job.need) > memory then
      return false
    end
    for index = 0, job.passes - 1 do
      if redis.call('HEXISTS', job_key(id, 'done'), index) == 0 then return false end
      if pass_of(id, index) == 'video' then return true end
    end
    return false
  end

  local function may_have_backup(job) return job.backups < math.max(1, BACKUP_SHARE * job.passes) end

  -- The reply that gives this worker a backup attempt at a late pass of the job; nil if there is no such pass. A job
  -- that has something else to give out leaves `tail`.
  local function claim_backup_of(id)
    local job = read_job(id)
    read_tail_fields(id, job)
    if job.state ~= 'running' or job.paused or job.cursor < job.passes
      or redis.call('ZCARD', job_key(id, 'retry')) > 0 or redis.call('HLEN', job_key(id, 'live')) == 0 then
      redis.call('ZREM', key('tail'), id)
    elseif can_take(job) and not is_excluded(id) and not missing_encoder(job) and may_have_backup(job) then
      -- The search costs as much as there are passes held, so claims make it at most once every TAIL_WAIT.
      redis.call('ZADD', key('tail'), now + TAIL_WAIT, id)
      local index = late_pass(id, job)
      if index then
        redis.call('HSET', job_key(id), 'copied', job.backups + 1)
        set_holder(id, index, 'copies', token, worker, lease, text(now), '0', '0')
        event('copied', id, index, worker)
        return answer(id, index, need_of(failures(id, index), job.need))
      end
    end
  end

  -- The reply that gives this worker a backup attempt at a pass of any job, for a worker that finds nothing else; false
  -- if there is none.
  local function claim_backup()
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('tail'), '-inf', now, 'LIMIT', 0, 8)) do
      local reply = isolated(id, claim_backup_of)
      if reply then return reply end
    end
    return false
  end

  -- The reply that gives out a job's probe, if the probe is free: in `retry` and due, or left without a holder by a
  -- torn log. Otherwise nil, as `try_job`.
  local function try_probe(id, job)
    local due = redis.call('ZSCORE', job_key(id, 'retry'), PROBE)
    if is_taken(id, PROBE) then
      redis.call('ZREM', job_key(id, 'retry'), PROBE)
      recount(id)
      leave_run_until_work(id)
    elseif due and tonumber(due) > now then
      leave_run_until_work(id)
    elseif due and is_for_others(id, PROBE, tonumber(due), job) then
      rank = rank + 1
    else
      return lease_pass(id, PROBE, true, job)
    end
  end

  -- The reply if the search ends at this job. Otherwise nil: the job has left the line, or `rank` is past it.
  local function try_job(id, virtual)
    local job = read_job(id, virtual)
    if not CLAIMABLE[job.state] and job.state ~= 'probing' or job.paused then
      leave_line(id)
    elseif is_excluded(id) then
      if not fail_if_all_excluded(id) then rank = rank + 1 end
    elseif not can_take(job) then
      rank = rank + 1
    elseif job.state == 'probing' then
      return try_probe(id, job)
    elseif missing_encoder(job) then
      local reason = cjson.encode({ ['encoder-missing'] = { build = missing_encoder(job) } })
      if exclude(id, worker, reason, lease) then
        fail_job(id, retention, 'nobody', nil, nil, host_of(worker), reason)
      else
        rank = rank + 1
      end
    else
      local index, due, for_others, some_wait = next_retry(id, job)
      if index then return lease_pass(id, index, true, job, index < job.passes and due or nil) end
      if for_others and redis.call('EXISTS', key('queue')) == 1 then
        rank = rank + 1
        return nil
      end
      local found, stopped = next_from_cursor(id, job, some_wait)
      if found then return lease_pass(id, found, false, job, job.offered) end
      if stopped > job.cursor then redis.call('HSET', job_key(id), 'cursor', stopped) end
      if stopped < job.passes then return rank end
      advance_state(id, retention)
      read_tail_fields(id, job)
      if for_others then
        rank = rank + 1
      elseif may_assemble(id, job) and not (may_have_backup(job) and late_pass(id, job)) then
        local given = lease_pass(id, job.passes, true, job)
        leave_run_until_work(id)
        return given
      elseif not redis.call('ZRANGEBYSCORE', job_key(id, 'retry'), '-inf', now, 'LIMIT', 0, 1)[1] then
        leave_run_until_work(id)
      else
        return rank
      end
    end
  end

  -- Whether a job of the queue may begin although enough are begun.
  local function may_go_ahead(id)
    local heaviest = redis.call('ZRANGE', key('begun'), 0, 0, 'REV', 'WITHSCORES')[2]
    if weight_of(id) > tonumber(heaviest or 0) then return true end
    local owner = redis.call('HGET', job_key(id), 'owner') or ''
    local begun = redis.call('HGET', key('turns'), 'begun:' .. owner)
    return tonumber(begun or 0) == 0
  end

  -- Begins the queue's first job if no more jobs have work to give out than slots are at work, each of which has a
  -- lease; this worker's slot is about to have another.
  local function begin_next()
    local id = redis.call('ZRANGE', key('queue'), 0, 0)[1]
    if id and (redis.call('ZCARD', key('run')) <= redis.call('ZCARD', key('lease')) or isolated(id, may_go_ahead)) then
      isolated(id, begin_job)
    end
  end

  -- The job at a rank, in `run` followed by `queue`, and its virtual time; nil after the last.
  local function job_at(place)
    local id, virtual = unpack(redis.call('ZRANGE', key('run'), place, place, 'WITHSCORES'))
    if id then return id, virtual end
    place = place - redis.call('ZCARD', key('run'))
    id = redis.call('ZRANGE', key('queue'), place, place)[1]
    return id, id and isolated(id, time_in_line)
  end

  -- Has jobs wait for a slot whose time in `timer` has come.
  local function line_up_due()
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('timer'), '-inf', now, 'LIMIT', 0, BATCH)) do
      isolated(id, schedule, now)
      redis.call('ZREM', key('timer'), id)
    end
  end

  -- The reply for the first job in line that has something for this worker. Jobs are read one after the other, since
  -- most claims take a pass of the first.
  local function claim_from_line()
    for _ = 1, BATCH do
      local id, virtual = job_at(rank)
      if not id then return claim_backup() end
      local reply = isolated(id, try_job, virtual)
      if reply then return reply end
    end
    return rank
  end

  local refusal = refuse_schema()
  if refusal then return refusal end
  if drained(worker) > 0 then return false end
  line_up_due()
  begin_next()
  return claim_from_line()
end)
