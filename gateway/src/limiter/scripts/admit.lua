-- Counts one request in all its counters or in none.
-- KEYS: the counters, in the order they are asked. ARGV: the request's id, the lease of one that runs in milliseconds, then for
-- each counter its kind (window, running), its cap and the amount.
-- Answers with the number of the counter that refuses (0: none) and the wait in milliseconds, then for each counter what is left,
-- the milliseconds until it is empty, and the entry the request is counted in.
local now = clock()
local id, lease = ARGV[1], tonumber(ARGV[2])
local counters, refused, after = {}, 0, 0

for number, key in ipairs(KEYS) do
  local counter = {kind = ARGV[3 * number], cap = tonumber(ARGV[3 * number + 1]), amount = tonumber(ARGV[3 * number + 2])}
  local blocked
  if counter.kind == 'window' then
    counter.window = open(key, now)
    blocked = wait(counter.window, counter.amount, counter.cap, now)
  else
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
    blocked = redis.call('ZCARD', key) >= counter.cap and 1000 or 0
  end
  if blocked > 0 and refused == 0 then
    refused, after = number, blocked
  end
  counters[number] = counter
end

local answer = {refused, after}
for number, key in ipairs(KEYS) do
  local counter, entry = counters[number], 0
  if refused == 0 and counter.window then
    entry = count(counter.window, counter.amount, now)
  elseif refused == 0 then
    redis.call('ZADD', key, text(now + lease), id)
    redis.call('PEXPIRE', key, lease + SKEW)
  end
  local left, empties = 0, 0
  if counter.window then
    left = math.max(0, counter.cap - counter.window.used)
    empties = math.max(0, counter.window.last + MINUTE - now)
  end
  answer[#answer + 1] = left
  answer[#answer + 1] = empties
  answer[#answer + 1] = entry
end
return answer
