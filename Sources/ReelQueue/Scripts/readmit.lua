-- readmit: a worker that was excluded from jobs, since something of its host was out of order, can work at them again.
--
-- args     1 worker  then the jobs
-- Reply    from how many of them it was excluded
-- Keeps    a job that has ended, for whatever reason, stays as it is.
transition('readmit', function(args)
  local worker, readmitted = args[1], 0
  for i = 2, #args do
    local id = args[i]
    local state = redis.call('HGET', job_key(id), 'state')
    if (CLAIMABLE[state] or state == 'probing') and redis.call('HDEL', job_key(id, 'excluded'), worker) == 1 then
      offer(id, now)
      event('readmitted', id, nil, worker)
      readmitted = readmitted + 1
    end
  end
  return readmitted
end)
