-- A machine is ready for whoever comes next: host, machine, image, the name it was begun under or '', a fence that
-- tokens must exceed, url, vnc_socket, capabilities. 0 when it is leased, or when its host is not known: a host that was
-- forgotten registers when it next beats, and shelves its machines then.
local host, id, image, name, above, url, vnc_socket, capabilities = unpack(ARGV)
if redis.call('HEXISTS', TOKENS, id) == 1 or redis.call('EXISTS', key('host', host)) == 0 then return 0 end
raise_fence(tonumber(above))
if name ~= '' then remove(name) end
redis.call('SREM', key('coming', image), id)
redis.call('SADD', key('machines', host), id)
redis.call('HSET', key('machine', id), 'host', host, 'image', image, 'state', 'free', 'since', now, 'url', url,
           'vnc_socket', vnc_socket, 'capabilities', capabilities)
redis.call('ZADD', key('free', image), now, id)
serve(image)
return 1
