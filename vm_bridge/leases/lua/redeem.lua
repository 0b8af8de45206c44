-- Use a ticket, once, while its lease stands: machine, token, nonce, until when it must be remembered (ms), when it was
-- made (ms). One that is older than the ledger may have been used before the ledger lost its data.
local id, token = ARGV[1], ARGV[2]
local no = refusal(id, token, redis.call('HGET', TOKENS, id), redis.call('ZSCORE', LEASES, id))
if no then return 'ended' end
if tonumber(ARGV[5]) * 1000 < born() then return 'old' end
if not redis.call('SET', key('ticket', ARGV[3]), 1, 'NX', 'PXAT', ARGV[4]) then return 'used' end
return 'redeemed'
