-- passes: some of a job's passes, one by one. Writes nothing.
--
-- args     1 job  2 index of the first  3 how many
-- Reply    nil if there is no such job, else {index of the pass that failed the job or '', then four lists with an
--          element for each pass: whether it is finished, its holder as `live` has it, its failures as `fails` has
--          them, whether it waits for a retry}; an element without a value is nil
-- Keeps    the cost grows with the passes that are asked for alone.
look('passes', function(args)
  local id, first, past = args[1], tonumber(args[2]), args[2] + args[3]
  if redis.call('EXISTS', job_key(id)) == 0 then return false end

  local names, finished, waiting = {}, {}, {}
  for index = first, past - 1 do
    local name = text(index)
    table.insert(names, name)
    table.insert(finished, redis.call('GETBIT', job_key(id, 'map'), index))
    table.insert(waiting, redis.call('ZSCORE', job_key(id, 'retry'), name) and 1 or 0)
  end
  return {
    redis.call('HGET', job_key(id), 'failed') or '', finished,
    redis.call('HMGET', job_key(id, 'live'), unpack(names)),
    redis.call('HMGET', job_key(id, 'fails'), unpack(names)), waiting,
  }
end)
