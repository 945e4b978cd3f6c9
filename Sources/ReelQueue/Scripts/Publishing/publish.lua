-- publish: gives a job its plan, which makes it runnable, and ends its probe. If the assembly is among the results, the
-- job is done.
--
-- args     1 job  2 token that holds the probe  3 the job as JSON  4 plan  5 passes without the assembly
--          6 need (bytes)  7 protocol version  8 encoder builds, one a line  9 virtual time that one claim costs
--          10 retention (ms)  11 frames  12 time to encode a frame, if decoding one takes 1
--          13 '1' to publish the job paused  14 how many of the passes are sound; they come first
--          15 hash of the plan  16 totals over the results, as `sum` has them  17 bytes of the output, 0 if the
--          assembly is not among the results  18 results, which the store has already;
--          then two per result: index, token and result as JSON with a space between;
--          then two per result with diagnostics: index, these as JSON, one a line
--          Release 0.1.0 gives the first 13, after `upload` and `restore`.
-- Reply    'published' (also if this token did it before), 'lost' (it does not hold the probe, or there is no such
--          job), 'cancelled'; to release 0.1.0 also 'incomplete' (passes are missing)
-- Keeps    a job that has a plan has all results that its publisher gave. What a torn call or another publisher left
--          goes first. A job that was paused while probing stays paused.
transition('publish', function(args)
  local id, token, passes, retention = args[1], args[2], tonumber(args[5]), tonumber(args[10])
  local results = tonumber(args[18])
  local state, publisher = unpack(redis.call('HMGET', job_key(id), 'state', 'publisher'))

  -- Records the results in place of what is there.
  local function record()
    remove_results(id)
    local first, past = 19, 19 + 2 * results
    for i = first, past - 1, 200 do
      redis.call('HSET', job_key(id, 'done'), unpack(args, i, math.min(i + 200, past) - 1))
    end
    for i = first, past - 1, 2 do redis.call('SETBIT', job_key(id, 'map'), args[i], 1) end
    for i = past, #args, 2 do add_diagnostics(id, args[i], args[i + 1]) end
    if results > 0 then redis.call('HSET', job_key(id), 'sum', args[16]) end
  end

  if state ~= 'probing' then
    if publisher == token then return 'published' end
    return state == 'cancelled' and 'cancelled' or 'lost'
  end
  if holder(id, PROBE) ~= token then return 'lost' end
  if not results and redis.call('HLEN', job_key(id, 'passes')) ~= passes then return 'incomplete' end

  if results then record() end
  if args[13] == '1' then
    redis.call('HSET', job_key(id), 'paused', 1)
    leave_line(id)
  end
  if redis.call('HGET', job_key(id), 'noted') == PROBE then
    redis.call('HDEL', job_key(id), 'note', 'noting', 'noted')
  end
  redis.call('ZREM', job_key(id, 'retry'), PROBE)
  redis.call('ZREM', key('timer'), id)
  schedule(id, now)
  redis.call('HSET', job_key(id), 'state', 'running', 'cursor', 0, 'offered', now, 'job', args[3], 'plan', args[4],
    'passes', passes, 'need', args[6], 'protocol', args[7], 'encoders', args[8], 'share', args[9], 'frames', args[11],
    'effort', args[12], 'publisher', token, 'sound', args[14] or '', 'hash', args[15] or '')
  reweigh(id)
  remove_holder(id, PROBE, token)
  event('published', id)
  advance_state(id, retention)
  wake(passes)
  local bytes = tonumber(args[17] or 0)
  if bytes == 0 then
    count({ 'attempts:done', 1, 0, 0 })
  else
    -- The holder of the probe has made all of it.
    local decoded, encoded = args[16]:match('^%d+ (%d+) (%d+)')
    add_to_pace(id, tonumber(encoded), passes)
    count({ 'attempts:done', 1, decoded, encoded }, { 'outputs', 1, bytes })
  end
  return 'published'
end)
