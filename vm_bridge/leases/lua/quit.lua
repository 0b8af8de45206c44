-- Hosts end with all their machines: host, what holders are told, and so on for each. All end before anybody can claim.
for i = 1, #ARGV, 2 do
    for _, id in ipairs(redis.call('SMEMBERS', key('machines', ARGV[i]))) do lose(id, ARGV[i + 1]) end
    forget_host(ARGV[i])
end
