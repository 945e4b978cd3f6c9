-- dispatch: gives out the webhook that has been due longest, so that the caller sends it.
--
-- args     1 lease on it (ms)
-- Reply    {job, URL, since when it is to be sent (ms), attempts with this one, when the lease lapses (ms)}, or nil if
--          none is due
-- Keeps    of several callers one gets it. If `dispatched` is not called before the lease lapses, it is due again. What
--          is of no ended job, or cannot be read, is dropped, and so is what has been tried for longer than
--          WEBHOOK_PATIENCE.
transition('dispatch', function(args)
  local list, till = key('webhooks'), text(now + tonumber(args[1]))

  -- As `sending_of`; nil unless the job has ended.
  local function sending(id, url)
    local state = redis.call('HGET', job_key(id), 'state')
    local since, attempts = sending_of(id, url)
    return ENDED[state] and since and { since, attempts }
  end

  for _ = 1, WEBHOOKS_LOOKED_AT do
    local name = redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', 0, 1)[1]
    if not name then return false end
    local id, url = name:match('^(%S+) (.+)$')
    local since, attempts = unpack(id and isolated(id, sending, url) or {})
    if since and (attempts == 0 or now <= since + WEBHOOK_PATIENCE) then
      redis.call('ZADD', list, till, name)
      redis.call('HSET', job_key(id, 'webhooks'), url, since .. ' ' .. text(attempts + 1))
      return { id, url, since, attempts + 1, till }
    end
    redis.call('ZREM', list, name)
    if since then
      redis.call('HSET', job_key(id, 'webhooks'), url, '')
      count({ 'webhooks:given-up', 1 })
    end
  end
  return false
end)
