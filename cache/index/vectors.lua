-- Vectors in Redis. KEYS[1] is the prefix of every key; ARGV[1] the operation.
--
-- v:<partition>   vector set: key of the answer -> vector, a byte a component
-- order           sorted set: <partition><key> -> worth (GreedyDual; see rows/greedy_dual.py)
-- floor           worth of the entry that was driven out last
-- age             counts entries, so that of those worth the same the older leaves first
-- partitions      set: those that hold any
-- graves          set: names of vector sets that were cleared and are being swept
-- grave:<name>    one of them; the name begins with the partition

local prefix, operation = KEYS[1], ARGV[1]
local order, floor, partitions, graves = prefix .. 'order', prefix .. 'floor', prefix .. 'partitions', prefix .. 'graves'
local NAME, AT_ONCE = 32, 500

local function place(partition)
  return prefix .. 'v:' .. partition
end

local function worth_now()
  return tonumber(redis.call('GET', floor) or '0')
end

local function take_out(partition, key)
  local there = redis.call('VREM', place(partition), key)
  if redis.call('EXISTS', place(partition)) == 0 then
    redis.call('SREM', partitions, partition)
  end
  return there
end

if operation == 'add' then
  local partition, key, vector, weight, most = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
  redis.call('VADD', place(partition), 'FP32', vector, key, 'Q8')
  redis.call('SADD', partitions, partition)
  local age = redis.call('INCR', prefix .. 'age') * 1e-9
  redis.call('ZADD', order, string.format('%.17g', worth_now() + weight + age), partition .. key)
  while redis.call('ZCARD', order) > most do
    local least = redis.call('ZPOPMIN', order)
    redis.call('SET', floor, least[2])
    take_out(string.sub(least[1], 1, NAME), string.sub(least[1], NAME + 1))
  end
  return 1
elseif operation == 'used' then
  local member = ARGV[2] .. ARGV[3]
  local worth = redis.call('ZSCORE', order, member)
  if worth then
    worth = math.max(tonumber(worth), worth_now()) + tonumber(ARGV[4])
    redis.call('ZADD', order, 'XX', string.format('%.17g', worth), member)
  end
  return worth and 1 or 0
elseif operation == 'remove' then
  local there = take_out(ARGV[2], ARGV[3])
  if there == 1 then
    redis.call('ZREM', order, ARGV[2] .. ARGV[3])
  end
  return there
elseif operation == 'bury' then
  local partition, name = ARGV[2], ARGV[2] .. ARGV[3]
  if redis.call('EXISTS', place(partition)) == 0 then
    return 0
  end
  redis.call('RENAME', place(partition), prefix .. 'grave:' .. name)
  redis.call('SADD', graves, name)
  redis.call('SREM', partitions, partition)
  return redis.call('VCARD', prefix .. 'grave:' .. name)
elseif operation == 'sweep' then
  local name = redis.call('SRANDMEMBER', graves)
  if not name then
    return 0
  end
  local partition, grave = string.sub(name, 1, NAME), prefix .. 'grave:' .. name
  for _, key in ipairs(redis.call('VRANDMEMBER', grave, AT_ONCE)) do
    redis.call('VREM', grave, key)
    if redis.call('VISMEMBER', place(partition), key) == 0 then
      redis.call('ZREM', order, partition .. key)
    end
  end
  if redis.call('EXISTS', grave) == 0 then
    redis.call('SREM', graves, name)
  end
  return 1
else -- size
  return { redis.call('ZCARD', order), redis.call('SCARD', partitions) }
end
