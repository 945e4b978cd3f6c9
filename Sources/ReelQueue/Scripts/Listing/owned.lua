-- owned: how many jobs of a submitter have not ended. Writes nothing.
--
-- args     1 the submitter's name, as `submission` has it before the last @
-- Reply    the number
-- Keeps    a job whose submission is not known, or cannot be read, counts for no submitter. Only until the backlog
--          counts all jobs does the cost grow with the jobs that have not ended.
look('owned', function(args)
  if is_counted() then return tonumber(redis.call('HGET', key('backlog'), '@' .. args[1]) or 0) end
  local owned = 0
  for _, id in ipairs(redis.call('ZRANGE', key('active'), 0, -1)) do
    if owner_of(id) == args[1] then owned = owned + 1 end
  end
  return owned
end)
