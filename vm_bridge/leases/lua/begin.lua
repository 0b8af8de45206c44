-- A host is about to make a machine: host, image, a name for the time being, whether only for those who wait.
-- 0 when none is wanted.
local host, image, name, urgent = unpack(ARGV)
if redis.call('HGET', key('host', host), 'draining') ~= '0' then return 0 end
local ready, target, waiting = wanted(image)
local need = urgent == '1' and 0 or target
if waiting > 0 then
    -- Those whom a quota keeps waiting need no machine now.
    local users, pools = {}, {}
    for _, member in ipairs(redis.call('ZRANGE', key('queue', image), 0, 199)) do
        local ask = redis.call('HMGET', key('waiter', string.sub(member, 17)), 'user', 'pool')
        local user, pool = ask[1], ask[2]
        if not over('user', user, users[user] or 0) and not over('pool', pool, pools[pool] or 0) then
            users[user], pools[pool] = (users[user] or 0) + 1, (pools[pool] or 0) + 1
            need = need + 1
        end
    end
end
if need <= ready then return 0 end
redis.call('SADD', key('coming', image), name)
redis.call('SADD', key('machines', host), name)
redis.call('HSET', key('machine', name), 'host', host, 'image', image, 'state', 'starting', 'since', now)
return 1
