-- For scripts/check, which shows luacheck each script behind the words that all of them share.
std = 'lua51'
max_line_length = 120
read_globals = { 'redis', 'cjson', 'KEYS', 'ARGV' }
