-- Set or lift ('') a limit: scope, name, limit. Who waited for it is served.
if ARGV[3] == '' then
    redis.call('HDEL', key('quota', ARGV[1]), ARGV[2])
else
    redis.call('HSET', key('quota', ARGV[1]), ARGV[2], ARGV[3])
end
local images = {}
for _, host in ipairs(redis.call('ZRANGE', HOSTS, 0, -1)) do
    for _, image in ipairs(cjson.decode(redis.call('HGET', key('host', host), 'images'))) do images[image] = true end
end
for image in pairs(images) do serve(image) end
