-- A machine could not be made: the name it was begun under, its image, why. The first who waits is told.
local name, image, reason = unpack(ARGV)
remove(name)
local ask = next_waiter(key('queue', image))
if not ask then return end
leave_queue(ask[1])
redis.call('SET', key('claim', ask[1]), 'no_machine ' .. reason, 'PX', 60000)
redis.call('PUBLISH', P .. 'told', ask[1])
