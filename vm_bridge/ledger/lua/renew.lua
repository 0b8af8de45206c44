-- Put the ends of leases off: ttl, then machine and token of each; the new end of each, or why there is none.
local ids, tokens, answers, put = {}, {}, {}, {LEASES}
for i = 2, #ARGV, 2 do
    ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1]
end
local held = redis.call('HMGET', TOKENS, unpack(ids))
local ends = redis.call('ZMSCORE', LEASES, unpack(ids))
for i, id in ipairs(ids) do
    local no = refusal(id, tokens[i], held[i], ends[i])
    answers[i] = no or whole(now + ARGV[1])
    if not no then
        put[#put + 1], put[#put + 2] = answers[i], id
    end
end
if #put > 1 then redis.call('ZADD', unpack(put)) end
return answers
