-- What every script of the ledger shares. Redis runs a script whole and alone; times are its own, in milliseconds.
local P = 'pilothouse:fleet:'
local LEASES, TOKENS, FENCE = P .. 'leases', P .. 'tokens', P .. 'fence'
local HOSTS, WAITERS = P .. 'hosts', P .. 'waiters'

local WHY_MS = 600000     -- how long it is remembered why a lease ended
local PRESENT_MS = 10000  -- a waiter that has not asked for so long is passed over
local AWAY_MS = 10000     -- and after so much more it loses its place
local PICK_UP_MS = 10000  -- a machine given to a waiter is kept for it so long
local RESTORE_MS = 15000  -- so long after the ledger was lost hosts may put leases back
local FIRST_TOKEN = 1e15  -- no ledger gave a lower token: each began at its clock (µs)
local BUSY_MS, BUSY_WARM = 60000, 4  -- people who claimed an image within so long are expected again, at most so many
local QUEUE, OWN_QUEUE = 2000, 200  -- most who may wait for one image, and of one user

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function key(kind, name) return P .. kind .. ':' .. name end
local function whole(number) return string.format('%.0f', number) end

-- Tokens begin at the clock (µs), so that they rise even when Redis has lost its memory.
local function raise_fence(above)
    local floor = math.max(above, tonumber(redis.call('GET', FENCE) or clock[1] * 1000000 + clock[2]))
    redis.call('SET', FENCE, whole(floor))
end

-- When this ledger began, on the scale of tokens (µs): leases of an earlier one, whose data were lost, have lower tokens.
local function born()
    local known = redis.call('GET', P .. 'born')
    if known then return tonumber(known) end
    redis.call('SET', P .. 'born', whole(now * 1000))
    return now * 1000
end

local function next_token()
    if redis.call('EXISTS', FENCE) == 0 then raise_fence(0) end
    return whole(redis.call('INCR', FENCE))
end

local function count(scope, name, change)
    if name == '' then return end
    local held = key('held', scope)
    if redis.call('HINCRBY', held, name, change) <= 0 then redis.call('HDEL', held, name) end
end

local function limit_of(scope, name)
    if name == '' then return nil end
    local limits = redis.call('HMGET', key('quota', scope), name, '*')
    return tonumber(limits[1] or limits[2] or nil)
end

local function over(scope, name, more)
    local limit = limit_of(scope, name)
    return limit and tonumber(redis.call('HGET', key('held', scope), name) or 0) + more >= limit
end

-- Which quota keeps a user and a pool from one machine more, if any.
local function blocked(user, pool)
    if over('user', user, 0) then return 'user_quota' end
    if over('pool', pool, 0) then return 'pool_quota' end
    return nil
end

local function lease_of(id)
    local known = redis.call('HMGET', key('machine', id), 'holder', 'image', 'url', 'capabilities', 'host')
    return {'leased', id, redis.call('HGET', TOKENS, id), redis.call('ZSCORE', LEASES, id),
            known[1], known[2], known[3], known[4], known[5]}
end

-- ask = {request, holder, user, pool, session}
local function hold(id, token, ask, ttl)
    redis.call('HSET', TOKENS, id, token)
    redis.call('ZADD', LEASES, whole(now + ttl), id)
    redis.call('HSET', key('machine', id), 'state', 'leased', 'since', now, 'request', ask[1], 'holder', ask[2],
               'user', ask[3], 'pool', ask[4], 'session', ask[5])
    count('user', ask[3], 1)
    count('pool', ask[4], 1)
    if ask[5] ~= '' then redis.call('SADD', key('session', ask[5]), id) end
    redis.call('SET', key('claim', ask[1]), 'leased ' .. id)
end

local function grant(id, ask, ttl) hold(id, next_token(), ask, ttl) end

local function leave_queue(request)
    local ask = redis.call('HMGET', key('waiter', request), 'image', 'member', 'fair')
    if not ask[1] then return end
    local queue, fair = key('queue', ask[1]), key('fair', ask[1])
    redis.call('ZREM', queue, ask[2])
    redis.call('ZREM', WAITERS, request)
    redis.call('DEL', key('waiter', request))
    redis.call('HINCRBY', fair, '#' .. ask[3], -1)
    if redis.call('ZCARD', queue) == 0 then
        redis.call('DEL', fair)
        redis.call('HDEL', key('pace', ask[1]), 'last')
    end
end

-- The first who is there and within the quotas.
local function next_waiter(queue)
    for from = 0, QUEUE, 50 do
        for _, member in ipairs(redis.call('ZRANGE', queue, from, from + 49)) do
            local request = string.sub(member, 17)
            if tonumber(redis.call('ZSCORE', WAITERS, request) or 0) > now then
                local ask = redis.call('HMGET', key('waiter', request), 'holder', 'user', 'pool', 'session', 'ttl')
                if not blocked(ask[2], ask[3]) then
                    return {request, ask[1], ask[2], ask[3], ask[4]}, tonumber(ask[5]), member
                end
            end
        end
    end
end

local function note_pace(image)
    local pace = key('pace', image)
    local known = redis.call('HMGET', pace, 'last', 'gap')
    if known[1] then
        local gap = now - known[1]
        redis.call('HSET', pace, 'gap', known[2] and 0.8 * known[2] + 0.2 * gap or gap)
    end
    redis.call('HSET', pace, 'last', now)
end

-- Hand free machines to those who wait; the virtual time is the start of who was served last.
local function serve(image)
    local free, queue = key('free', image), key('queue', image)
    while redis.call('ZCARD', queue) > 0 and redis.call('ZCARD', free) > 0 do
        local ask, ttl, member = next_waiter(queue)
        if not ask then return end
        redis.call('HSET', key('fair', image), '*', redis.call('ZSCORE', queue, member))
        note_pace(image)
        leave_queue(ask[1])
        grant(redis.call('ZPOPMIN', free)[1], ask, math.min(ttl, PICK_UP_MS))
        redis.call('PUBLISH', P .. 'told', ask[1])
    end
end

-- Remember that a person claimed a machine. Claims of programs, which have no user or no pool, do not count.
local function note_claim(image, user, pool)
    if user == '' or pool == '' then return end
    for _, earlier in ipairs(redis.call('ZRANGEBYSCORE', key('claimed', image), '-inf', now - BUSY_MS)) do
        redis.call('ZREM', key('claimed', image), earlier)
    end
    redis.call('ZADD', key('claimed', image), now, user)
end

-- Machines ready or on their way, how many are to be ready, and who waits. An image that is kept warm is kept so for
-- as many people as claimed it lately, beside those who still wait: with one, each but the first would wait for a start.
local function wanted(image)
    local function size(command, kind) return redis.call(command, key(kind, image)) end
    local ready = size('ZCARD', 'free') + size('SCARD', 'coming')
    local target, waiting = tonumber(redis.call('HGET', P .. 'warm', image) or 0), size('ZCARD', 'queue')
    local lately = #redis.call('ZRANGEBYSCORE', key('claimed', image), now - BUSY_MS, '+inf')
    if lately == 0 then redis.call('DEL', key('claimed', image)) end  -- PEXPIRE is not among the bridge's commands
    if target > 0 then
        target = math.max(target, math.min(lately - waiting, BUSY_WARM))
    end
    return ready, target, waiting
end

-- Tell a machine's host what to do with it, now that its lease has ended or its host is being emptied.
local function hand_back(id, host, image)
    local ready, target, waiting = wanted(image)
    local keep = redis.call('HGET', key('host', host), 'draining') == '0'
                 and (waiting > 0 or ready < math.max(1, target))
    redis.call('HSET', key('machine', id), 'state', keep and 'resetting' or 'draining', 'since', now)
    if keep then redis.call('SADD', key('coming', image), id) end
    redis.call('RPUSH', key('work', host), (keep and 'reset ' or 'drop ') .. id)
end

-- why = code and reason, told to who asks under the ended token; none where the holder ended it.
local function end_lease(id, why)
    local token = redis.call('HGET', TOKENS, id)
    if not token then return nil end
    local machine = key('machine', id)
    local was = redis.call('HMGET', machine, 'user', 'pool', 'session', 'request', 'host', 'image', 'holder')
    redis.call('HDEL', TOKENS, id)
    redis.call('ZREM', LEASES, id)
    redis.call('HDEL', machine, 'user', 'pool', 'session', 'request', 'holder')
    count('user', was[1], -1)
    count('pool', was[2], -1)
    if was[3] ~= '' then redis.call('SREM', key('session', was[3]), id) end
    redis.call('SET', key('claim', was[4]), 'stale_lease the lease of this claim has ended', 'PX', 60000)
    if why then redis.call('SET', key('why', token), why, 'PX', WHY_MS) end
    return {host = was[5], image = was[6], user = was[1], pool = was[2], session = was[3], holder = was[7]}
end

-- Nothing when this token holds this machine now, else code and reason.
local function refusal(id, token, held, ends)
    if held == token and ends and tonumber(ends) > now then return nil end
    local why = redis.call('GET', key('why', token))
    if why then return why end
    if redis.call('EXISTS', key('machine', id)) == 0 then
        local since = born()
        if tonumber(token) > FIRST_TOKEN and tonumber(token) < since and now - since / 1000 < RESTORE_MS then
            return 'bridge_unavailable leases are being put back'
        end
        return 'machine_gone there is no machine ' .. id
    end
    return 'stale_lease the lease of ' .. id .. ' has ended'
end

local function remove(id)
    local machine = key('machine', id)
    local known = redis.call('HMGET', machine, 'host', 'image')
    if not known[1] then return end
    redis.call('ZREM', key('free', known[2]), id)
    redis.call('SREM', key('coming', known[2]), id)
    redis.call('SREM', key('machines', known[1]), id)
    redis.call('DEL', machine)
end

-- An idle machine of a host that does not answer now is given to nobody, until the host says that it lives.
local function strand(id)
    local known = redis.call('HMGET', key('machine', id), 'state', 'image')
    if known[1] ~= 'free' then return end
    redis.call('ZREM', key('free', known[2]), id)
    redis.call('HSET', key('machine', id), 'state', 'stranded', 'since', now)
end

-- A machine that is no more, with what is told to who held it.
local function lose(id, reason)
    local was = end_lease(id, 'machine_gone ' .. reason)
    if was then
        was.machine_id, was.reason, was.at = id, reason, now
        redis.call('LPUSH', P .. 'lost', cjson.encode(was))
        redis.call('LTRIM', P .. 'lost', 0, 199)
    end
    remove(id)
end

-- Where a waiter stands: request, image, position from 1, how many wait, expected wait (ms or ''), what it waits for.
local function place(request)
    local ask = redis.call('HMGET', key('waiter', request), 'image', 'member', 'user', 'pool')
    local queue = key('queue', ask[1])
    local position = redis.call('ZRANK', queue, ask[2]) + 1
    local gap = redis.call('HGET', key('pace', ask[1]), 'gap')
    return {'waiting', request, ask[1], position, redis.call('ZCARD', queue),
            gap and whole(gap * position) or '', blocked(ask[3], ask[4]) or 'none_free'}
end

local function forget_host(host)
    for _, image in ipairs(cjson.decode(redis.call('HGET', key('host', host), 'images') or '[]')) do
        redis.call('SREM', key('image', image), host)
    end
    redis.call('ZREM', HOSTS, host)
    redis.call('DEL', key('host', host), key('machines', host), key('work', host))
end

