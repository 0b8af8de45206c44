-- A host says that it is there: host, url, capacity, images as JSON, warnings as JSON. Gives the machines it is known
-- to have, of which the idle ones are given to nobody until it says that they live.
local host, url, capacity, images, warnings = unpack(ARGV)
born()
local known = redis.call('HGET', key('host', host), 'images')
for _, image in ipairs(cjson.decode(known or '[]')) do redis.call('SREM', key('image', image), host) end
for _, image in ipairs(cjson.decode(images)) do redis.call('SADD', key('image', image), host) end
redis.call('HSET', key('host', host), 'url', url, 'capacity', capacity, 'images', images, 'since', now,
           'warnings', warnings)
redis.call('HSETNX', key('host', host), 'draining', 0)
redis.call('ZADD', HOSTS, now, host)
redis.call('DEL', key('work', host))
local machines = redis.call('SMEMBERS', key('machines', host))
for _, id in ipairs(machines) do strand(id) end
return machines
