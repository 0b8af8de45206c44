-- The machines a host is known to have, each with its state.
local answer = {}
for _, id in ipairs(redis.call('SMEMBERS', key('machines', ARGV[1]))) do
    answer[#answer + 1] = id
    answer[#answer + 1] = redis.call('HGET', key('machine', id), 'state') or ''
end
return answer
