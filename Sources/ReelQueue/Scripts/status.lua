-- status: one consistent look at a job. Writes nothing.
--
-- KEYS[1]  prefix
-- ARGV     1 job
-- Reply    nil, or {fields of the job, number of finished passes, live, fails, excluded}, hashes as flat lists
local id = ARGV[1]

if redis.call('EXISTS', job_key(id)) == 0 then return false end
return {
  redis.call('HGETALL', job_key(id)), redis.call('HLEN', job_key(id, 'done')),
  redis.call('HGETALL', job_key(id, 'live')), redis.call('HGETALL', job_key(id, 'fails')),
  redis.call('HGETALL', job_key(id, 'excluded')),
}
