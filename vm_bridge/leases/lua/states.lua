-- The machines a host is known to have, eight words each: machine, state, and of one that is leased its token, request,
-- holder, user, pool and session. Where machines are named after the host, those alone. False when the host is not known.
if redis.call('EXISTS', key('host', ARGV[1])) == 0 then return false end
local answer = {}
local ids = #ARGV > 1 and {unpack(ARGV, 2)} or redis.call('SMEMBERS', key('machines', ARGV[1]))
for _, id in ipairs(ids) do
    local known = redis.call('HMGET', key('machine', id), 'state', 'request', 'holder', 'user', 'pool', 'session')
    answer[#answer + 1] = id
    answer[#answer + 1] = known[1] or ''
    answer[#answer + 1] = redis.call('HGET', TOKENS, id) or ''
    for i = 2, 6 do answer[#answer + 1] = known[i] or '' end
end
return answer
