-- trim: leaves of the results of a job that is done only the tokens that recorded them, a page at a time.
--
-- args     1 job  2 cursor, '0' to begin
-- Reply    the cursor of the next page; '0' after the last, and if the job is not done or its totals have fallen
--          behind, since they could not be added up again
-- Keeps    the tokens, by which `complete` and `beat` answer a worker that did not hear of the end.
transition('trim', function(args)
  local id, cursor = args[1], args[2]
  local state, sum = unpack(redis.call('HMGET', job_key(id), 'state', 'sum'))

  if state ~= 'done' then return '0' end
  if tonumber((sum or ''):match('^(%d+) ')) ~= redis.call('HLEN', job_key(id, 'done')) then return '0' end
  local following, page = unpack(redis.call('HSCAN', job_key(id, 'done'), cursor, 'COUNT', 500))
  for i = 1, #page, 2 do
    local token = token_of(page[i + 1])
    if token and token ~= page[i + 1] then redis.call('HSET', job_key(id, 'done'), page[i], token) end
  end
  return following
end)
