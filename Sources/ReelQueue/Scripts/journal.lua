-- journal: notes that somebody had a server change something. The stream is for people, and no function reads it.
--
-- args     1 who  2 role  3 address  4 action  5 job, '' if it concerns none  6 status of the answer
-- Reply    id of the entry, which begins with the time (ms)
-- Keeps    the stream has about the last JOURNAL_KEPT entries.
transition('journal', function(args)
  return redis.call('XADD', key('journal'), 'MAXLEN', '~', JOURNAL_KEPT, '*',
    'who', args[1], 'role', args[2], 'address', args[3], 'action', args[4], 'job', args[5], 'status', args[6])
end)
