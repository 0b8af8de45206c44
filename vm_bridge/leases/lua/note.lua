-- What a machine costs and when it last acted: machine, then names and values.
if redis.call('EXISTS', key('machine', ARGV[1])) == 1 then
    redis.call('HSET', key('machine', ARGV[1]), unpack(ARGV, 2))
end
