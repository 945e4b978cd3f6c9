-- strip: the progress of a job's passes, in cells of equal size. Writes nothing.
--
-- args     1 job  2 number of cells
-- Reply    nil if there is no such job, else {number of finished passes of each cell, indices of held passes, indices
--          of some passes that failed and wait for a retry, with that of the pass that failed the job}
-- Keeps    the cost does not grow with the number of passes, except that one bit per pass is counted.
look('strip', function(args)
  local id, cells = args[1], tonumber(args[2])
  local passes = tonumber(redis.call('HGET', job_key(id), 'passes'))
  if not passes then return false end

  local finished = {}
  for cell = 0, cells - 1 do
    local first, past = math.floor(cell * passes / cells), math.floor((cell + 1) * passes / cells)
    table.insert(finished, past > first and redis.call('BITCOUNT', job_key(id, 'map'), first, past - 1, 'BIT') or 0)
  end

  -- A pass that was handed back is in `retry`, too, without a failure.
  local failed = {}
  for _, index in ipairs(redis.call('ZRANGE', job_key(id, 'retry'), 0, 999)) do
    if redis.call('HEXISTS', job_key(id, 'fails'), index) == 1 then table.insert(failed, index) end
  end
  local exhausted = redis.call('HGET', job_key(id), 'failed')
  if exhausted and exhausted ~= '' and exhausted ~= PROBE then table.insert(failed, exhausted) end
  return { finished, redis.call('HKEYS', job_key(id, 'live')), failed }
end)
