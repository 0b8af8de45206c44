-- Empty a host (1) or fill it again (0): host, which. 0 when there is no such host.
local host, draining = ARGV[1], ARGV[2]
if redis.call('EXISTS', key('host', host)) == 0 then return 0 end
redis.call('HSET', key('host', host), 'draining', draining)
if draining == '1' then
    for _, id in ipairs(redis.call('SMEMBERS', key('machines', host))) do
        local image = redis.call('HGET', key('machine', id), 'image')
        if redis.call('ZREM', key('free', image), id) == 1 then hand_back(id, host, image) end
    end
end
return 1
