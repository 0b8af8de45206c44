-- Nothing when this token holds this machine now, else why not.
local id, token = ARGV[1], ARGV[2]
return refusal(id, token, redis.call('HGET', TOKENS, id), redis.call('ZSCORE', LEASES, id))
