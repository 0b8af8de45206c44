-- A host ends with all its machines: host, what holders are told.
for _, id in ipairs(redis.call('SMEMBERS', key('machines', ARGV[1]))) do lose(id, ARGV[2]) end
forget_host(ARGV[1])
