-- hook: adds a webhook to a job: a URL that is told of each of its ends.
--
-- args     1 job  2 URL
-- Reply    'added'  it is to be sent when the job ends; also if the job has it already
--          'due'    the job has ended, so it is sent at once
--          'full'   the job has WEBHOOKS_KEPT others, and stays as it is
--          nil if there is no such job
-- Keeps    a webhook that is being sent goes on as it is. It stays until the job is begun anew or forgotten.
transition('hook', function(args)
  local id, url = args[1], args[2]
  local state = redis.call('HGET', job_key(id), 'state')

  if not state then return false end
  local part = job_key(id, 'webhooks')
  if redis.call('HEXISTS', part, url) == 0 and redis.call('HLEN', part) >= WEBHOOKS_KEPT then return 'full' end
  if not ENDED[state] then
    redis.call('HSETNX', part, url, '')
    return 'added'
  end
  if not redis.call('ZSCORE', key('webhooks'), webhook_name(id, url)) then
    make_due(id, url)
    local left = redis.call('PTTL', job_key(id))
    -- A job whose end was torn has no expiry.
    if left > 0 then redis.call('PEXPIRE', part, left) end
  end
  return 'due'
end)
