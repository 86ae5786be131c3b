-- Stored answers of one installation, under keys that begin with KEYS[1], which holds the hash tag of all of them.
--   <prefix>a:<key>   hash of one answer: v its record, c when it was asked for, t its tags (each in newlines)
--   <prefix>all       sorted set of keys by the instant at which they expire
--   <prefix>bytes     hash of the bytes each counts for; the field "" holds their sum
--   <prefix>t:<tag>   sorted set of the keys with a tag, by the instant at which they expire
--   <prefix>purged    hash of tags to the instant up to which they were purged
-- Instants are the server's own, in milliseconds; those asked for (c, purged) are the callers', in seconds.
local prefix, operation = KEYS[1], ARGV[1]
local all, bytes, purged = prefix .. 'all', prefix .. 'bytes', prefix .. 'purged'

local function drop(key)
    local size = redis.call('HGET', bytes, 'k' .. key)
    if size then
        redis.call('HINCRBY', bytes, '', -tonumber(size))
        redis.call('HDEL', bytes, 'k' .. key)
    end
    redis.call('ZREM', all, key)
    return redis.call('DEL', prefix .. 'a:' .. key)
end

local function now()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function drop_expired(limit)
    for _, key in ipairs(redis.call('ZRANGEBYSCORE', all, '-inf', now(), 'LIMIT', 0, limit)) do drop(key) end
end

if operation == 'put' then
    local key, record, created, ttl, size, most = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
    drop(key)
    if ttl <= 0 or size > most then return 0 end
    for n = 8, #ARGV do
        local before = redis.call('HGET', purged, ARGV[n])
        if before and tonumber(created) <= tonumber(before) then return 0 end
    end
    drop_expired(100)
    while tonumber(redis.call('HGET', bytes, '') or '0') + size > most do
        local first = redis.call('ZRANGE', all, 0, 0)[1]
        if not first then break end
        drop(first)
    end
    local ends, tags = now() + ttl, '\n'
    for n = 8, #ARGV do
        local tag = prefix .. 't:' .. ARGV[n]
        tags = tags .. ARGV[n] .. '\n'
        redis.call('ZREMRANGEBYSCORE', tag, '-inf', now())
        redis.call('ZADD', tag, ends, key)
        if redis.call('PTTL', tag) < ttl then redis.call('PEXPIRE', tag, ttl) end
    end
    redis.call('HSET', prefix .. 'a:' .. key, 'v', record, 'c', created, 't', tags)
    redis.call('PEXPIRE', prefix .. 'a:' .. key, ttl)
    redis.call('ZADD', all, ends, key)
    redis.call('HSET', bytes, 'k' .. key, size)
    redis.call('HINCRBY', bytes, '', size)
    return 1
elseif operation == 'delete' then
    return drop(ARGV[2])
elseif operation == 'purge' then
    -- One piece of a purge, from a place in the tag's set on; returns how many went, and the next place or -1.
    local tag, before, from, limit = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
    local told = redis.call('HGET', purged, tag)
    if not told or tonumber(told) < before then redis.call('HSET', purged, tag, ARGV[3]) end
    redis.call('EXPIRE', purged, 86400)
    local set, gone, kept = prefix .. 't:' .. tag, 0, 0
    local keys = redis.call('ZRANGE', set, from, from + limit - 1)
    for _, key in ipairs(keys) do
        local found = redis.call('HMGET', prefix .. 'a:' .. key, 'c', 't')
        local tagged = found[1] and string.find(found[2], '\n' .. tag .. '\n', 1, true)
        if tagged and tonumber(found[1]) > before then
            kept = kept + 1
        else
            redis.call('ZREM', set, key)
            if tagged then gone = gone + drop(key) end
        end
    end
    if #keys < limit then return {gone, -1} end
    return {gone, from + kept}
elseif operation == 'size' then
    drop_expired(1000)
    return {redis.call('ZCARD', all), tonumber(redis.call('HGET', bytes, '') or '0')}
elseif operation == 'release' then
    local lease = prefix .. 'l:' .. ARGV[2]
    return redis.call('GET', lease) == ARGV[3] and redis.call('DEL', lease) or 0
end
return redis.error_reply('no such operation')
