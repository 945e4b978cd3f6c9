-- status: one consistent look at a job. Writes nothing.
--
-- args     1 job
-- Reply    nil if there is no such job, else {fields of the job, live, some of fails, excluded, pace (all five as flat
--          lists), number of finished passes, number of passes with failed attempts, retries that are due, retries to
--          come, when the first retry was or is due (ms, '' for none), now (ms)}
look('status', function(args)
  local id = args[1]

  if redis.call('EXISTS', job_key(id)) == 0 then return false end

  -- A page of the failures, and that of the pass that failed the job.
  local fails = redis.call('HSCAN', job_key(id, 'fails'), 0, 'COUNT', 100)[2]
  local failed = redis.call('HGET', job_key(id), 'failed')
  local record = failed and redis.call('HGET', job_key(id, 'fails'), failed)
  if record then
    table.insert(fails, failed)
    table.insert(fails, record)
  end
  return {
    redis.call('HGETALL', job_key(id)), redis.call('HGETALL', job_key(id, 'live')), fails,
    redis.call('HGETALL', job_key(id, 'excluded')), redis.call('HGETALL', job_key(id, 'pace')),
    redis.call('HLEN', job_key(id, 'done')), redis.call('HLEN', job_key(id, 'fails')),
    redis.call('ZCOUNT', job_key(id, 'retry'), '-inf', now),
    redis.call('ZCOUNT', job_key(id, 'retry'), '(' .. now, '+inf'),
    redis.call('ZRANGE', job_key(id, 'retry'), 0, 0, 'WITHSCORES')[2] or '', now,
  }
end)
