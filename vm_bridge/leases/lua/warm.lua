-- How many machines of an image are kept ready: image, count, whether a higher target stays.
local image, count, at_least = unpack(ARGV)
if at_least == '1' then
    count = math.max(count, tonumber(redis.call('HGET', P .. 'warm', image) or 0))
end
redis.call('HSET', P .. 'warm', image, count)
for _, host in ipairs(redis.call('SMEMBERS', key('image', image))) do
    redis.call('RPUSH', key('work', host), 'want ' .. image)
end
