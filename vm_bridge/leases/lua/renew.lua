-- Put the ends of leases off: ttl, then machines and tokens in one text (arguments by the hundred cost their sender more).
-- Gives the new end, then place and refusal of each that has none.
local ids, tokens, put = {}, {}, {LEASES}
for id, token in string.gmatch(ARGV[2], '(%S+) (%S+)') do
    ids[#ids + 1], tokens[#tokens + 1] = id, token
end
local answer = {whole(now + ARGV[1])}
local held = redis.call('HMGET', TOKENS, unpack(ids))
local ends = redis.call('ZMSCORE', LEASES, unpack(ids))
for i, id in ipairs(ids) do
    local no = refusal(id, tokens[i], held[i], ends[i])
    if no then
        answer[#answer + 1], answer[#answer + 2] = i - 1, no
    else
        put[#put + 1], put[#put + 2] = answer[1], id
    end
end
if #put > 1 then redis.call('ZADD', unpack(put)) end
return answer
