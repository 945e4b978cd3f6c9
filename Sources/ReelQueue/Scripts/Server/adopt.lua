-- adopt: answers which store the board belongs to, and gives a board without a store the caller's.
--
-- args     1 id of the caller's store; '' if the caller has none and only asks
-- Reply    id of the board's store, '' if it has none
--          an error if the board is of another version
-- Keeps    a board keeps its store until Redis loses everything.
transition('adopt', function(args)
  local refusal = refuse_schema()
  if refusal then return refusal end

  local known = redis.call('GET', key('store'))
  if known then return known end
  if args[1] ~= '' then redis.call('SET', key('store'), args[1]) end
  return args[1]
end)
