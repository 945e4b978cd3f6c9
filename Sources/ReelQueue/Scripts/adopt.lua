-- adopt: which store the board belongs to. One that belongs to none is given the store that is named.
--
-- args     1 id of the store; '' where the caller has none and only asks
-- Reply    id of the board's store, '' where it has none
--          an error where the board is of another version
-- Keeps    a board that belongs to a store belongs to it until Redis has lost everything.
transition('adopt', function(args)
  local refusal = refuse_schema()
  if refusal then return refusal end

  local known = redis.call('GET', key('store'))
  if known then return known end
  if args[1] ~= '' then redis.call('SET', key('store'), args[1]) end
  return args[1]
end)
