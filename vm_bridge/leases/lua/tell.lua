-- What machines of a host may take without a bound: host, JSON. A host that was forgotten is told so when it next beats;
-- half a row of it would keep it from being known again.
if redis.call('EXISTS', key('host', ARGV[1])) == 1 then
    redis.call('HSET', key('host', ARGV[1]), 'unbounded', ARGV[2])
end
