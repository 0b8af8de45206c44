-- A machine now, a place in the queue, or a refusal. Asking again under the same request is safe, and keeps the place.
local request, image, holder, user, pool, session, ttl = unpack(ARGV)
local queue, fair, waiter = key('queue', image), key('fair', image), key('waiter', request)

local function told()
    local answer = redis.call('GET', key('claim', request))
    if not answer then return nil end
    local id = string.match(answer, '^leased (.+)$')
    if not id then
        -- Who is told that none could be made may ask again; what ended has ended.
        if string.match(answer, '^no_') then redis.call('DEL', key('claim', request)) end
        return {'refused', answer}
    end
    redis.call('ZADD', LEASES, now + ttl, id)
    return lease_of(id)
end

local function enqueue()
    local mine = user ~= '' and user or holder
    local before = redis.call('HMGET', fair, '*', '@' .. mine, '#' .. mine)
    if redis.call('ZCARD', queue) >= QUEUE or tonumber(before[3] or 0) >= OWN_QUEUE then
        return {'refused', 'no_machine too many wait for ' .. image .. ' already'}
    end
    -- Start-time fair queueing: one machine costs one unit of its user's virtual time.
    local start = math.max(tonumber(before[1] or 0), tonumber(before[2] or 0))
    local member = string.format('%015.0f ', redis.call('INCR', P .. 'arrivals')) .. request
    redis.call('HSET', fair, '@' .. mine, start + 1)
    redis.call('HINCRBY', fair, '#' .. mine, 1)
    redis.call('ZADD', queue, start, member)
    redis.call('HSET', waiter, 'image', image, 'member', member, 'fair', mine, 'holder', holder, 'user', user,
               'pool', pool, 'session', session, 'ttl', ttl, 'since', now)
    for _, host in ipairs(redis.call('SMEMBERS', key('image', image))) do
        redis.call('RPUSH', key('work', host), 'want ' .. image)
    end
end

local answer = told()
if answer then return answer end
if redis.call('EXISTS', waiter) == 0 then
    if redis.call('SCARD', key('image', image)) == 0 then
        return {'refused', 'no_machine there is no image ' .. image}
    end
    note_claim(image, user, pool)
    if redis.call('ZCARD', queue) == 0 and not blocked(user, pool) then
        local id = redis.call('ZPOPMIN', key('free', image))[1]
        if id then
            grant(id, {request, holder, user, pool, session}, ttl)
            return lease_of(id)
        end
    end
    local refused = enqueue()
    if refused then return refused end
end
redis.call('ZADD', WAITERS, now + PRESENT_MS, request)
serve(image)
return told() or place(request)
