-- A machine could not be made: the name it was begun under, its image, an error's code and why. The first who waits is told.
local name, image, code, reason = unpack(ARGV)
remove(name)
local ask = next_waiter(key('queue', image))
if not ask then return end
leave_queue(ask[1])
redis.call('SET', key('claim', ask[1]), code .. ' ' .. reason, 'PX', 60000)
redis.call('PUBLISH', P .. 'told', ask[1])
