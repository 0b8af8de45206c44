-- A machine outlived its bridge: machine, url, vnc_socket, capabilities. Its state; a free one is free again.
local id = ARGV[1]
local known = redis.call('HMGET', key('machine', id), 'state', 'image')
redis.call('HSET', key('machine', id), 'url', ARGV[2], 'vnc_socket', ARGV[3], 'capabilities', ARGV[4])
if known[1] == 'stranded' then
    redis.call('HSET', key('machine', id), 'state', 'free', 'since', now)
    redis.call('ZADD', key('free', known[2]), now, id)
    serve(known[2])
end
return known[1]
