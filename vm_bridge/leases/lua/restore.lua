-- A host puts a lease back that the ledger lost with all its data: host, machine, image, url, vnc_socket, capabilities,
-- token, ttl, request, holder, user, pool, session. 0 when the host is not known, when the machine is, or when the lease
-- is not older than the ledger: then the ledger ended it.
local host, id, image, url, vnc_socket, capabilities, token, ttl, request, holder, user, pool, session = unpack(ARGV)
if redis.call('EXISTS', key('host', host)) == 0 or redis.call('EXISTS', key('machine', id)) == 1 then return 0 end
if tonumber(token) >= born() or redis.call('EXISTS', key('why', token)) == 1 then return 0 end
raise_fence(tonumber(token))
redis.call('SADD', key('machines', host), id)
redis.call('HSET', key('machine', id), 'host', host, 'image', image, 'url', url, 'vnc_socket', vnc_socket,
           'capabilities', capabilities)
hold(id, token, {request, holder, user, pool, session}, ttl)
return 1
