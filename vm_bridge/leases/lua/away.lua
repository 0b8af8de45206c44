-- Who waited has gone: pass it over from now on, and forget it unless it comes back soon.
redis.call('ZADD', WAITERS, 'XX', now, ARGV[1])
