-- A sliding minute of amounts in one hash, as `svc_filters::limits::Window` keeps it in memory. An entry is named by its first
-- millisecond. Fields: `used`, the sum; `head` and `tail`, the oldest and the newest entry; for each entry E `a<E>`, its amount,
-- `l<E>`, its newest millisecond, and `n<E>`, the next entry.
local MINUTE, ENTRY = 60000, 100
-- A clock that was this much ahead and was put right makes a window start anew.
local SKEW = 5000
-- Entries looked at to tell a wait.
local STEPS = 100

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function text(number)
  return string.format('%.0f', number)
end

local function fresh(key)
  return {key = key, used = 0, head = false, tail = false, last = 0}
end

-- Lets leave what is a minute old.
local function open(key, now)
  local found = redis.call('HMGET', key, 'used', 'head', 'tail')
  local window = {key = key, used = tonumber(found[1] or 0), head = found[2], tail = found[3]}
  if not window.tail then
    return fresh(key)
  end
  window.last = tonumber(redis.call('HGET', key, 'l' .. window.tail) or 0)
  if window.last + MINUTE <= now or window.last > now + SKEW then
    redis.call('DEL', key)
    return fresh(key)
  end
  local before = window.head
  while window.head do
    local entry = redis.call('HMGET', key, 'a' .. window.head, 'l' .. window.head, 'n' .. window.head)
    if tonumber(entry[2] or 0) + MINUTE > now then
      break
    end
    window.used = window.used - tonumber(entry[1] or 0)
    redis.call('HDEL', key, 'a' .. window.head, 'l' .. window.head, 'n' .. window.head)
    window.head = entry[3]
  end
  if not window.head then
    redis.call('DEL', key)
    return fresh(key)
  end
  if window.head ~= before then
    redis.call('HSET', key, 'used', text(window.used), 'head', window.head)
  end
  return window
end

-- Milliseconds until the amount fits; 0 where it does.
local function wait(window, amount, cap, now)
  if cap <= 0 then
    return MINUTE
  end
  local left, entry = window.used, window.head
  if left + amount <= cap then
    return 0
  end
  for step = 1, STEPS do
    if not entry then
      break
    end
    local found = redis.call('HMGET', window.key, 'a' .. entry, 'l' .. entry, 'n' .. entry)
    left = left - tonumber(found[1] or 0)
    if left + amount <= cap or step == STEPS then
      return math.max(1, tonumber(found[2] or 0) + MINUTE - now)
    end
    entry = found[3]
  end
  return MINUTE
end

-- Counts the amount, whatever the cap, and returns its entry.
local function count(window, amount, now)
  window.used = window.used + amount
  window.last = math.max(window.last, now)
  if window.tail and now < tonumber(window.tail) + ENTRY then
    redis.call('HINCRBY', window.key, 'a' .. window.tail, text(amount))
    redis.call('HSET', window.key, 'used', text(window.used), 'l' .. window.tail, text(window.last))
  else
    local entry = text(now)
    local link = window.tail and 'n' .. window.tail or 'head'
    redis.call('HSET', window.key, 'used', text(window.used), 'tail', entry, link, entry, 'a' .. entry, text(amount), 'l' .. entry, entry)
    window.tail = entry
  end
  redis.call('PEXPIRE', window.key, MINUTE + SKEW)
  return tonumber(window.tail)
end

-- Takes an amount out of an entry that is still there.
local function take_back(key, entry, amount)
  local counted = tonumber(redis.call('HGET', key, 'a' .. entry) or 0)
  local taken = text(-math.min(amount, counted))
  if counted > 0 then
    redis.call('HINCRBY', key, 'a' .. entry, taken)
    redis.call('HINCRBY', key, 'used', taken)
  end
end

