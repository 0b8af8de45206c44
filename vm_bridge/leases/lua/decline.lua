-- A machine just given does not answer: request, machine, token. The lease ends, the machine is dropped, and the request
-- may be made again. The machine does not count as coming: its host may be dead, and another has to make one.
-- Idempotent: nothing happens when the request has another machine by now.
local request, id, token = unpack(ARGV)
local answer = redis.call('GET', key('claim', request)) or ''
if redis.call('HGET', TOKENS, id) == token and answer == 'leased ' .. id then
    local was = end_lease(id, 'machine_gone ' .. id .. ' did not answer when it was claimed')
    redis.call('HSET', key('machine', id), 'state', 'draining', 'since', now)
    redis.call('RPUSH', key('work', was.host), 'drop ' .. id)
    serve(was.image)
elseif not string.match(answer, '^stale_lease') then
    return 0
end
redis.call('DEL', key('claim', request))
return 1
