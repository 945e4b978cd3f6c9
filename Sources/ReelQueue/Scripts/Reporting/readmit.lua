-- readmit: lets a worker work again at jobs that exclude it, once the cause on its host is gone.
--
-- args     1 worker  then the jobs
-- Reply    the number of these jobs that excluded it
-- Keeps    a job that has ended does not change.
transition('readmit', function(args)
  local worker, readmitted = args[1], 0
  for i = 2, #args do
    local id = args[i]
    local state = redis.call('HGET', job_key(id), 'state')
    if (CLAIMABLE[state] or state == 'probing') and redis.call('HDEL', job_key(id, 'excluded'), worker) == 1 then
      schedule(id, now)
      event('readmitted', id, nil, worker)
      readmitted = readmitted + 1
    end
  end
  return readmitted
end)
