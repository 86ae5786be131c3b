-- The operations of `governance.counters.Counters`, each one call and so atomic.
--
-- KEYS[1] is the prefix of every key, with the hash tag that keeps them on one node of a cluster; KEYS[2] is there when
-- this script had to be sent anew. ARGV[1] names the operation, ARGV[2] the generation of memory that the caller knows,
-- the rest are the operation's own.
--
--   <prefix>memory       hash: generation, open_at, life. Absent when this Redis is new or has forgotten
--   <prefix>c:<counter>  hash: s (settled) and h (held), 64-bit integers; it goes away some time after its window
--   <prefix>h:<hold>     list: counter, amount, and what of it stays when the hold expires, for each draw
--   <prefix>leases       sorted set: open holds by the second their lease ends
--   <prefix>b:<hold>     mark: this hold has been booked
--
-- Lua's numbers are doubles, exact to 2^53 only: about nine million dollars in nano-dollars. So amounts are added by
-- Redis, as 64-bit integers, and compared here in two limbs.

local prefix, operation, generation = KEYS[1], ARGV[1], ARGV[2]
local leases, memory = prefix .. 'leases', prefix .. 'memory'
local GRACE_S = 600
local BOOKED_S = 86400

local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local function cell_of(counter)
  return prefix .. 'c:' .. counter
end

local function limbs(text)
  if #text <= 9 then
    return 0, tonumber(text)
  end
  return tonumber(string.sub(text, 1, -10)), tonumber(string.sub(text, -9))
end

local function over(limit, ...)
  local high, low = 0, 0
  for _, text in ipairs({...}) do
    local upper, lower = limbs(text)
    high, low = high + upper, low + lower
  end
  high, low = high + math.floor(low / 1000000000), low % 1000000000
  local upper, lower = limbs(limit)
  return high > upper or (high == upper and low > lower)
end

local function level(cell)
  local found = redis.call('HMGET', cell, 's', 'h')
  return found[1] or '0', found[2] or '0'
end

local function levels(counters)
  local found = {}
  for _, counter in ipairs(counters) do
    local settled, held = level(cell_of(counter))
    found[#found + 1], found[#found + 2] = settled, held
  end
  return found
end

local function add(cell, field, amount)
  if amount ~= '0' then
    redis.call('HINCRBY', cell, field, amount)
  end
end

local function keep(cell, seconds)
  if redis.call('PTTL', cell) < seconds * 1000 then
    redis.call('EXPIRE', cell, math.ceil(seconds))
  end
end

-- End a hold at `used`, or at what stays of it when that is nil. Nothing for a hold that is not open.
local function finish(id, used)
  local name = prefix .. 'h:' .. id
  local draws = redis.call('LRANGE', name, 0, -1)
  if used and redis.call('ZSCORE', leases, id) and #used * 3 ~= #draws then
    return redis.error_reply('ERR one amount for each draw')
  end
  if redis.call('ZREM', leases, id) == 0 then
    return false
  end
  redis.call('DEL', name)
  local counters = {}
  for n = 1, #draws, 3 do
    local cell = cell_of(draws[n])
    counters[#counters + 1] = draws[n]
    if redis.call('EXISTS', cell) == 1 then -- else its window is long over
      if draws[n + 1] ~= '0' then
        redis.call('HINCRBY', cell, 'h', '-' .. draws[n + 1])
      end
      add(cell, 's', used and used[#counters] or draws[n + 2])
    end
  end
  return levels(counters)
end

-- End a hold as if it had never been, and return what it drew.
local function free(id)
  local open, used = redis.call('LRANGE', prefix .. 'h:' .. id, 0, -1), {}
  for _ = 1, #open, 3 do
    used[#used + 1] = '0'
  end
  return finish(id, used) and open
end

local function not_open_yet(at)
  return at < tonumber(redis.call('HGET', memory, 'open_at'))
    and redis.error_reply('FORMING the holds of other processes are still being collected')
end

-- The first draw that does not fit, and the level it meets; nothing when all fit.
local function unfit(draws)
  for n = 1, #draws, 5 do
    local settled, held = level(cell_of(draws[n]))
    if over(draws[n + 3], settled, held, draws[n + 2]) then
      return {0, (n - 1) / 5, settled, held}
    end
  end
end

local function open(id, lease, at, draws)
  local counters = {}
  for n = 1, #draws, 5 do
    local cell = cell_of(draws[n])
    counters[#counters + 1] = draws[n]
    redis.call('HINCRBY', cell, 'h', draws[n + 2])
    keep(cell, math.max(tonumber(draws[n + 1]), tonumber(lease)) - at + GRACE_S)
    keep(cell, GRACE_S)
    redis.call('RPUSH', prefix .. 'h:' .. id, draws[n], draws[n + 2], draws[n + 4])
  end
  redis.call('ZADD', leases, lease, id)
  return {1, levels(counters)}
end

local act = {}

-- id, lease, whether limits count; then counter, end of window, amount, limit, what stays, for each draw
function act.hold(id, lease, limited, ...)
  local draws, at = {...}, now()
  if limited ~= '1' then
    free(id)
    return open(id, lease, at, draws)
  end
  if redis.call('ZSCORE', leases, id) then
    local drawn, counters = redis.call('LRANGE', prefix .. 'h:' .. id, 0, -1), {}
    for n = 1, #drawn, 3 do
      counters[#counters + 1] = drawn[n]
    end
    return {1, levels(counters)}
  end
  return not_open_yet(at) or unfit(draws) or open(id, lease, at, draws)
end

-- id; then as for a hold
function act.redraw(id, ...)
  local draws, at, lease = {...}, now(), redis.call('ZSCORE', leases, id)
  if not lease then
    return false
  end
  local forming = not_open_yet(at)
  if forming then
    return forming
  end
  local before = free(id)
  local refused = unfit(draws)
  if not refused then
    return open(id, lease, at, draws)
  end
  for n = 1, #before, 3 do
    redis.call('HINCRBY', cell_of(before[n]), 'h', before[n + 1])
    redis.call('RPUSH', prefix .. 'h:' .. id, before[n], before[n + 1], before[n + 2])
  end
  redis.call('ZADD', leases, lease, id)
  return refused
end

function act.settle(id, ...)
  return finish(id, {...})
end

function act.cancel(id)
  return free(id) and 1 or 0
end

function act.expire(at, most)
  local late = redis.call('ZRANGEBYSCORE', leases, '-inf', at, 'LIMIT', 0, most)
  for _, id in ipairs(late) do
    finish(id, nil)
  end
  return late
end

function act.read(...)
  return levels({...})
end

-- counter, end of window, the least that is settled
function act.seed(counter, ends, settled)
  local cell = cell_of(counter)
  if over(settled, (level(cell))) then
    return 0
  end
  redis.call('HSET', cell, 's', settled)
  keep(cell, math.max(tonumber(ends) - now(), 0) + GRACE_S)
  return 1
end

-- id; then counter, end of window, amount, for each draw
function act.book(id, ...)
  local draws = {...}
  if not redis.call('SET', prefix .. 'b:' .. id, '', 'NX', 'EX', BOOKED_S) then
    return 0
  end
  free(id)
  for n = 1, #draws, 3 do
    local cell = cell_of(draws[n])
    redis.call('HINCRBY', cell, 's', draws[n + 2])
    keep(cell, math.max(tonumber(draws[n + 1]) - now(), 0) + GRACE_S)
  end
  return 1
end

-- Which run of which server this is; nothing where it may not be asked.
local function life()
  local told = redis.pcall('INFO', 'server')
  return type(told) == 'string' and string.match(told, 'run_id:(%w+)') or ''
end

-- A server that starts again, or takes over from another, may go by a snapshot that lacks what was counted since. Such
-- a memory is worse than none, and is forgotten.
local function distrust_another_life()
  if redis.call('HGET', memory, 'life') ~= life() then
    redis.call('DEL', memory)
  end
end

local function clear()
  local cursor = '0'
  repeat
    local found = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', 1000)
    for _, key in ipairs(found[2]) do
      redis.call('DEL', key)
    end
    cursor = found[1]
  until cursor == '0'
end

-- Which generation of memory this is; where there is none, `refiller` becomes the one who may begin it.
function act.reach(refiller, seconds)
  distrust_another_life()
  local found = redis.call('HGET', memory, 'generation')
  if found then
    return found
  end
  if redis.call('GET', prefix .. 'refilling') == refiller then
    return ''
  end
  if redis.call('EXISTS', prefix .. 'refilling') == 1 then
    return false
  end
  clear()
  redis.call('SET', prefix .. 'refilling', refiller, 'EX', seconds)
  return ''
end

function act.remember(refiller, quiet_s)
  if redis.call('GET', prefix .. 'refilling') ~= refiller then
    return redis.error_reply('FORGOTTEN another process refills')
  end
  redis.call('HSET', memory, 'generation', refiller, 'open_at', now() + tonumber(quiet_s), 'life', life())
  redis.call('DEL', prefix .. 'refilling')
  return refiller
end

function act.ready()
  return now() >= tonumber(redis.call('HGET', memory, 'open_at')) and 1 or 0
end

-- Whether scripts run here, and may touch our keys.
function act.probe()
  return redis.call('EXISTS', memory)
end

if KEYS[2] then
  distrust_another_life()
end
local WITHOUT_MEMORY = {seed = true, reach = true, remember = true, probe = true}
if not WITHOUT_MEMORY[operation] and redis.call('HGET', memory, 'generation') ~= generation then
  return redis.error_reply('FORGOTTEN what this process counted on is gone')
end
return act[operation](unpack(ARGV, 3))
