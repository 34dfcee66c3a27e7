-- Ends one request: its place is free, its tokens are settled.
-- KEYS: its counters of tokens and of running requests. ARGV: its id, then for each counter its kind, the entry it was counted
-- in, the tokens reserved and those it took.
local now = clock()
for number, key in ipairs(KEYS) do
  local at = 4 * number - 2
  local entry, reserved, took = ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  if ARGV[at] == 'running' then
    redis.call('ZREM', key, ARGV[1])
  elseif took < reserved then
    take_back(key, entry, reserved - took)
  elseif took > reserved then
    count(open(key, now), took - reserved, now)
  end
end
return 0
