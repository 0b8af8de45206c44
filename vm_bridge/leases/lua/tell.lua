-- What a host says of itself: host, then names and values. A host that was forgotten is told so when it next beats; half
-- a row of it would keep it from being known again.
local name = key('host', ARGV[1])
if redis.call('EXISTS', name) == 1 then redis.call('HSET', name, unpack(ARGV, 2)) end
