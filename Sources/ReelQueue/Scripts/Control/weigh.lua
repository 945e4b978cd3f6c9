-- weigh: gives a job another weight than it was published with.
--
-- args     1 job  2 weight
-- Reply    the job's state, or nil if there is no such job; a job that has ended does not change
-- Keeps    claims from now on cost by this weight; the virtual time that the job has come to stays. A job that is not
--          begun goes to the place in the queue that the weight gives it. The weight stays, too, if the job is planned
--          anew.
transition('weigh', function(args)
  local id = args[1]
  local state = redis.call('HGET', job_key(id), 'state')

  if not state or ENDED[state] then return state end
  redis.call('HSET', job_key(id), 'weight', args[2])
  reweigh(id)
  if redis.call('ZSCORE', key('queue'), id) then enqueue(id) end
  redis.call('ZADD', key('begun'), 'XX', text(weight_of(id)), id)
  return state
end)
