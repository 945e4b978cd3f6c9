-- For scripts/check, which shows luacheck the library of functions without its head: Library.swift makes these constants.
std = 'lua51'
max_line_length = 120
read_globals = {
  'redis', 'cjson',
  'VERSION', 'SERVES', 'SCHEMA', 'KEY_NAMES', 'LIMITS', 'TURNS', 'LAG', 'BACKUP_SHARE', 'TAIL_WAIT', 'PATIENCE',
  'ATTEMPTS_KEPT', 'DIAGNOSTICS_KEPT', 'MOST_PASSES', 'REAPED', 'SILENCE', 'EVENTS_KEPT', 'HINTS', 'PACE_SLOT',
  'PACE_SLOTS', 'RATE_SLOT', 'RATE_SLOTS', 'BUCKETS', 'BACKLOG_PAGE', 'TIDIED', 'TIDY_PAUSE',
  'WEBHOOKS_KEPT', 'WEBHOOKS_LOOKED_AT', 'WEBHOOK_PATIENCE', 'WEBHOOK_PAUSE',
}
