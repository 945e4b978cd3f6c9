-- release: hands a pass back, as a worker that drains does.
--
-- args     1 job  2 index  3 token  4 plan
-- Reply    1, or 0 if the token does not hold the pass, or the job has another plan by now
-- Keeps    no attempt is charged; only the holder can release.
transition('release', function(args)
  local id, index, token = args[1], args[2], args[3]
  local state, plan = unpack(redis.call('HMGET', job_key(id), 'state', 'plan'))
  if state and plan ~= args[4] then return 0 end
  return hand_back(id, index, token, state) and 1 or 0
end)
