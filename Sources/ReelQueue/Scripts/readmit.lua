-- readmit: a worker that was excluded from jobs, since something of its host was out of order, can work at them again.
--
-- KEYS[1]  prefix
-- ARGV     1 worker  then the jobs
-- Reply    from how many of them it was excluded
-- Keeps    a job that has ended, for whatever reason, stays as it is.
local worker, readmitted = ARGV[1], 0
for i = 2, #ARGV do
  local id = ARGV[i]
  local state = redis.call('HGET', job_key(id), 'state')
  if (CLAIMABLE[state] or state == 'probing') and redis.call('HDEL', job_key(id, 'excluded'), worker) == 1 then
    offer(id, now)
    event('readmitted', id, nil, worker)
    readmitted = readmitted + 1
  end
end
return readmitted
