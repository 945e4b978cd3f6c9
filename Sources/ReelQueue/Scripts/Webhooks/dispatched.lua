-- dispatched: records how an attempt to send a webhook ended.
--
-- args     1 job  2 URL  3 since when it is to be sent  4 when the lease lapses; both as `dispatch` gave them
--          5 'sent', 'failed', or 'refused' if its receiver wants to hear no more  6 pause after the first attempt (ms)
-- Reply    'sent'      it is not sent again
--          'given-up'  the same, although it has not arrived
--          'stale'     another caller has it by now, or it is not to be sent any more: nothing has changed
--          an integer  it has failed; the milliseconds after which it is due again
-- Keeps    each pause is twice the one before, WEBHOOK_PAUSE at most. It is given up when the next attempt would be
--          later than WEBHOOK_PATIENCE after the first could be. One that has arrived is not sent again, even if its
--          lease had lapsed.
transition('dispatched', function(args)
  local id, url, since, till, outcome, pause = unpack(args)
  local list, name = key('webhooks'), webhook_name(id, url)
  local begun, attempts = sending_of(id, url)
  local score = redis.call('ZSCORE', list, name)

  if begun ~= since or not score then return 'stale' end
  if outcome ~= 'sent' and tonumber(score) ~= tonumber(till) then return 'stale' end
  pause = math.min(pause * 2 ^ math.max(attempts - 1, 0), WEBHOOK_PAUSE)
  if outcome == 'failed' and now + pause <= since + WEBHOOK_PATIENCE then
    redis.call('ZADD', list, text(now + pause), name)
    count({ 'webhooks:retried', 1 })
    return pause
  end
  local answer = outcome == 'sent' and 'sent' or 'given-up'
  redis.call('HSET', job_key(id, 'webhooks'), url, '')
  redis.call('ZREM', list, name)
  count({ 'webhooks:' .. answer, 1 })
  return answer
end)
