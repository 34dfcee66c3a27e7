-- Renews the leases of requests that still run. KEYS: their counter. ARGV: the lease in milliseconds, then their ids.
local lease = tonumber(ARGV[1])
local due = text(clock() + lease)
for number = 2, #ARGV do
  redis.call('ZADD', KEYS[1], due, ARGV[number])
end
redis.call('PEXPIRE', KEYS[1], lease + SKEW)
return 0
