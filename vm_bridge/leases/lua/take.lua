-- Withdraw a free machine, so that nobody can claim it; 0 when somebody was faster.
local id = ARGV[1]
local image = redis.call('HGET', key('machine', id), 'image')
if not image or redis.call('ZREM', key('free', image), id) == 0 then return 0 end
redis.call('HSET', key('machine', id), 'state', 'draining', 'since', now)
return 1
