-- Put the end of one lease off: machine, token, ttl. Gives the lease, read before anything else can happen to it.
local id, token, ttl = unpack(ARGV)
local no = refusal(id, token, redis.call('HGET', TOKENS, id), redis.call('ZSCORE', LEASES, id))
if no then return {'refused', no} end
redis.call('ZADD', LEASES, whole(now + ttl), id)
return lease_of(id)
