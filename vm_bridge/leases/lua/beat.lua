-- A host lives; 0 when Redis does not know it any more.
if redis.call('EXISTS', key('host', ARGV[1])) == 0 then return 0 end
redis.call('ZADD', HOSTS, now, ARGV[1])
return 1
