-- backlog: how many jobs have not ended, and where their passes are: from the counters, or by looking at the jobs, a
-- page at a time. Writes nothing.
--
-- args     1 '-inf' for the counters or, until these count all jobs, the first page; else when the last job of the page
--          before was created (ms)  2 how many jobs of that time were on that page or earlier ones
-- Reply    {jobs that are probing, running, assembling, paused, unreadable; passes that are ready, live, retrying,
--          paused, done; since when the oldest ready pass waits (ms, '' if none is ready), now (ms); arguments for the
--          next page, '' and 0 after the last, and after the counters}
-- Keeps    with the counters, the cost grows only with the jobs that have a retry to come; a page costs 4 to 7 commands
--          for each of its jobs, and no more for passes. Each job is counted once, a paused one as paused. So is each
--          pass, the assembly once it is released or held, and the probe while the job is probing; a backup attempt is
--          no pass of its own.
look('backlog', function(args)
  local jobs = { probing = 0, running = 0, assembling = 0, paused = 0, unreadable = 0 }
  local passes = { ready = 0, live = 0, retrying = 0, paused = 0, done = 0 }
  local oldest

  -- The reply from the counters. They count a retry among the waiting passes, whether it is due or not, because time
  -- alone changes that; so the retries to come are counted here. Nil if the counters cannot be read.
  local function counted()
    local totals = totals_of(redis.call('HGET', key('backlog'), '*'))
    if not totals then return nil end
    for place, number in ipairs(totals) do totals[place] = tonumber(number) end
    local retrying = 0
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', key('later'), '(' .. text(now), '+inf')) do
      local state = (redis.call('HGET', key('backlog'), id) or ''):match('^%l+')
      if CLAIMABLE[state] or state == 'probing' then
        retrying = retrying + redis.call('ZCOUNT', job_key(id, 'retry'), '(' .. text(now), '+inf')
      end
    end
    retrying = math.min(retrying, totals[6])
    local first = redis.call('ZRANGE', key('ready'), 0, 0, 'WITHSCORES')[2]
    local since = first and tonumber(first) <= now and text(first) or ''
    return {
      totals[1], totals[2], totals[3], totals[4], totals[5],
      totals[6] - retrying, totals[8], retrying, totals[7], totals[9], since, now, '', 0,
    }
  end

  if args[1] == '-inf' and is_counted() then
    local fine, reply = pcall(counted)
    if fine and reply then return reply end
  end

  local aside = {}
  for _, id in ipairs(redis.call('ZRANGE', key('broken'), 0, -1)) do aside[id] = true end

  -- Passes in `retry` that are due, those that are not, and since when the first is due.
  local function retries(id)
    local all = redis.call('ZCARD', job_key(id, 'retry'))
    if all == 0 then return 0, 0 end
    local first = tonumber(redis.call('ZRANGE', job_key(id, 'retry'), 0, 0, 'WITHSCORES')[2])
    if first > now then return 0, all end
    local due = redis.call('ZCOUNT', job_key(id, 'retry'), '-inf', now)
    return due, all - due, first
  end

  local function add(id)
    local state, total, cursor, paused, offered = unpack(
      redis.call('HMGET', job_key(id), 'state', 'passes', 'cursor', 'paused', 'offered'))
    -- A job whose end or removal is torn.
    if not state or ENDED[state] then return end
    total, cursor = tonumber(total), tonumber(cursor)
    assert(is_count(total, 0) and is_count(cursor, 0) and (CLAIMABLE[state] or state == 'probing'))

    local held = redis.call('HLEN', job_key(id, 'live'))
    local due, later, since = retries(id)
    -- Passes that were never given out: they are in no key.
    local done, rest = 0, 1 - held - due - later
    if state ~= 'probing' then
      done = math.min(redis.call('HLEN', job_key(id, 'done')), total)
      rest = total - done - held - due - later
      -- The assembly is not among the passes.
      if held > 0 and redis.call('HEXISTS', job_key(id, 'live'), text(total)) == 1 then
        rest = rest + 1
      end
    end
    rest = math.max(rest, 0)

    passes.live, passes.done = passes.live + held, passes.done + done
    if paused then
      jobs.paused = jobs.paused + 1
      passes.paused = passes.paused + rest + due + later
      return
    end
    jobs[state] = jobs[state] + 1
    passes.ready, passes.retrying = passes.ready + rest + due, passes.retrying + later
    if rest > 0 and tonumber(offered) then since = math.min(since or now, tonumber(offered)) end
    if since then oldest = math.min(oldest or now, since) end
  end

  local from, skipped = args[1], tonumber(args[2])
  local page = redis.call('ZRANGEBYSCORE', key('active'), from, '+inf', 'WITHSCORES', 'LIMIT', skipped, BACKLOG_PAGE)
  for i = 1, #page, 2 do
    if aside[page[i]] or not pcall(add, page[i]) then jobs.unreadable = jobs.unreadable + 1 end
    skipped = page[i + 1] == from and skipped + 1 or 1
    from = page[i + 1]
  end
  if #page < 2 * BACKLOG_PAGE then from, skipped = '', 0 end
  return {
    jobs.probing, jobs.running, jobs.assembling, jobs.paused, jobs.unreadable,
    passes.ready, passes.live, passes.retrying, passes.paused, passes.done,
    oldest and text(oldest) or '', now, from, skipped,
  }
end)
