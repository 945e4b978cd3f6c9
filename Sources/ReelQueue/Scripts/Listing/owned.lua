-- owned: how many jobs of a submitter have not ended. Writes nothing.
--
-- args     1 the submitter's name, as `submission` has it before the last @
-- Reply    the number
-- Keeps    a job whose submission is not known, or cannot be read, counts for no submitter. The cost grows with the
--          jobs that have not ended.
look('owned', function(args)
  local owned = 0
  for _, id in ipairs(redis.call('ZRANGE', key('active'), 0, -1)) do
    if owner_of(id) == args[1] then owned = owned + 1 end
  end
  return owned
end)
