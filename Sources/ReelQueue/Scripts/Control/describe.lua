-- describe: records what a submitter says of a job.
--
-- args     1 job  2 the submission as JSON
-- Reply    1, or 0 if there is no such job
-- Keeps    of it, functions read the submitter alone; it stays until the job is begun anew or forgotten.
transition('describe', function(args)
  if redis.call('EXISTS', job_key(args[1])) == 0 then return 0 end
  redis.call('HSET', job_key(args[1]), 'submission', args[2])
  recount(args[1], true)
  return 1
end)
