-- End what is over: leases, places of those who went away, hosts that fell silent. `host_free` and `host_gone`: after how
-- much silence (ms) a host's idle machines are given to nobody, and all its machines are lost.
-- Gives the leases ended, and after how many ms the next one ends.
local host_free, host_gone = ARGV[1], ARGV[2]
local ended = redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 100)
for _, id in ipairs(ended) do
    local was = end_lease(id, 'stale_lease the lease of ' .. id .. ' ran out')
    hand_back(id, was.host, was.image)
end
for _, request in ipairs(redis.call('ZRANGEBYSCORE', WAITERS, '-inf', now - AWAY_MS, 'LIMIT', 0, 100)) do
    local ask = redis.call('HMGET', key('waiter', request), 'image', 'fair')
    local fair = key('fair', ask[1])
    leave_queue(request)
    -- Who left with nobody behind is not charged for what it did not get.
    if redis.call('HGET', fair, '#' .. ask[2]) == '0' then redis.call('HDEL', fair, '@' .. ask[2]) end
end
-- Silence counts only where somebody listened: after an outage of Redis or of all managers every host has its say first.
local listening = redis.call('HMGET', P .. 'listening', 'since', 'last')
local since = listening[2] and now - listening[2] < 2000 and tonumber(listening[1]) or now
redis.call('HSET', P .. 'listening', 'since', since, 'last', now)
local silent = now - since < tonumber(host_free) and {}
               or redis.call('ZRANGEBYSCORE', HOSTS, '-inf', now - host_free, 'LIMIT', 0, 10)
for _, host in ipairs(silent) do
    local gone = tonumber(redis.call('ZSCORE', HOSTS, host)) < now - host_gone
    for _, id in ipairs(redis.call('SMEMBERS', key('machines', host))) do
        if gone then lose(id, 'the host ' .. host .. ' of ' .. id .. ' fell silent') else strand(id) end
    end
    if gone then forget_host(host) end
end
local next_one = redis.call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')
return {#ended, next_one[2] and whole(math.max(0, next_one[2] - now)) or ''}
