-- A machine outlived its bridge: machine, url, vnc_socket, capabilities. Its state; one that nobody held is free again,
-- or ended where its host is being emptied.
local id = ARGV[1]
local known = redis.call('HMGET', key('machine', id), 'state', 'image', 'host')
redis.call('HSET', key('machine', id), 'url', ARGV[2], 'vnc_socket', ARGV[3], 'capabilities', ARGV[4])
if known[1] == 'stranded' then
    if redis.call('HGET', key('host', known[3]), 'draining') ~= '0' then
        hand_back(id, known[3], known[2])
    else
        redis.call('HSET', key('machine', id), 'state', 'free', 'since', now)
        redis.call('ZADD', key('free', known[2]), now, id)
        serve(known[2])
    end
end
return known[1]
