-- How a request stands, for who asks without asking again; it keeps the place of a waiter.
local request = ARGV[1]
if redis.call('EXISTS', key('waiter', request)) == 1 then
    redis.call('ZADD', WAITERS, now + PRESENT_MS, request)
    return place(request)
end
local answer = redis.call('GET', key('claim', request))
if not answer then return {'refused', 'unknown_claim nobody knows the claim ' .. request} end
local id = string.match(answer, '^leased (.+)$')
if id then return lease_of(id) end
return {'refused', answer}
