-- workers: the workers in the registry, and since when each holds its passes. Writes nothing.
--
-- Reply    for each worker, by name: {its report as JSON, its last beat (ms), drained as `drained` has it, then for
--          each pass that it holds: token, when it was claimed (ms), its kind, and what `pass_of` gives besides, for
--          release 0.1.0}, and after all workers now (ms)
look('workers', function()
  local beats = redis.call('ZRANGE', key('workers'), 0, -1, 'WITHSCORES')
  local names, at = {}, {}
  for i = 1, #beats, 2 do
    table.insert(names, beats[i])
    at[beats[i]] = tonumber(beats[i + 1])
  end
  table.sort(names)

  -- The passes that a worker holds according to its report and the board, four values each.
  local function holds_of(report)
    local holds = {}
    for _, held in ipairs(cjson.decode(report).held) do
      local part, _, started = held_part(held.job, held.index, held.token)
      if part then
        local kind, pass = pass_of(held.job, held.index)
        if kind then
          for _, value in ipairs({ held.token, tonumber(started), kind, pass }) do table.insert(holds, value) end
        end
      end
    end
    return holds
  end

  local reply = {}
  for _, name in ipairs(names) do
    local report = redis.pcall('HGET', worker_key(name), 'report')
    -- A worker without a report departed in a call that was torn; a key of another type is not a worker's.
    if type(report) == 'string' then
      local entry = { report, at[name], drained(name) }
      -- If the report or a job cannot be read, the worker is listed without its passes.
      local fine, holds = pcall(holds_of, report)
      for _, value in ipairs(fine and holds or {}) do table.insert(entry, value) end
      table.insert(reply, entry)
    end
  end
  table.insert(reply, now)
  return reply
end)
