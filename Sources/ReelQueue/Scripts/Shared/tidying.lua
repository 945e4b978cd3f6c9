-- What keeps the board from growing, and its counters right, whatever torn calls and earlier libraries left: `reap` has
-- a part of the board tidied, in rounds through all of it.

-- The parts of a round. Each gets the place from which it goes on, '' for the beginning, looks at about TIDIED entries,
-- and returns the place of the next; nil at its end.
local tidy_part = {
  -- Counts jobs anew; a job whose keys have expired, or were removed by a torn `forget`, leaves the lists. The place is
  -- the time of the last job (ms), and how many jobs of that time were looked at.
  jobs = function(place)
    local from, skipped = place:match('^(%S+) (%d+)$')
    from, skipped = from or '-inf', tonumber(skipped or 0)
    local page = redis.call('ZRANGEBYSCORE', key('jobs'), from, '+inf', 'WITHSCORES', 'LIMIT', skipped, TIDIED)
    for i = 1, #page, 2 do
      local id, created = page[i], page[i + 1]
      if created ~= from then from, skipped = created, 0 end
      if redis.call('EXISTS', job_key(id)) == 1 then
        recount(id, true)
        skipped = skipped + 1
      else
        unlist(id)
      end
    end
    return #page == 2 * TIDIED and from .. ' ' .. text(skipped) or nil
  end,

  -- Removes entries of jobs that have ended, and of owners without jobs. The place is a cursor of Redis.
  backlog = function(place)
    local found = redis.pcall('HSCAN', key('backlog'), tonumber(place) or 0, 'COUNT', TIDIED)
    if found.err then return forget_backlog() end
    local following, page = unpack(found)
    for i = 1, #page, 2 do
      local name, entry = page[i], page[i + 1]
      if entry == '' or entry == '0' and name:find('^@') then
        redis.call('HDEL', key('backlog'), name)
      elseif name ~= '*' and not name:find('^@') and not redis.call('ZSCORE', key('active'), name) then
        recount(name, true)
      end
    end
    return following ~= '0' and following or nil
  end,

  -- Drops webhooks that no server has sent while their job was there.
  webhooks = function()
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', key('webhooks'), '-inf', now, 'LIMIT', 0, TIDIED)) do
      if redis.call('EXISTS', job_key(name:match('^%S*'))) == 0 then redis.call('ZREM', key('webhooks'), name) end
    end
  end,
}

local NEXT_PART = { jobs = 'backlog', backlog = 'webhooks', webhooks = 'jobs' }

-- Tidies the next part of the board, at most once in TIDY_PAUSE. After a round `backlog` counts all jobs.
local function tidy()
  local last, going = unpack(redis.call('HMGET', key('control'), 'tidied', 'tidying'))
  if math.abs(now - (tonumber(last) or 0)) < TIDY_PAUSE then return end
  local part, place = (going or ''):match('^(%l+) (.*)$')
  if not tidy_part[part] then part, place = 'jobs', '' end

  is_forgotten = false
  local following = tidy_part[part](place)
  local next_place
  if is_forgotten then
    next_place = ''
  elseif following then
    next_place = part .. ' ' .. following
  else
    if part == 'backlog' then redis.call('HSET', key('control'), 'counted', 1) end
    next_place = NEXT_PART[part] .. ' '
  end
  redis.call('HSET', key('control'), 'tidied', text(now), 'tidying', next_place)
end
