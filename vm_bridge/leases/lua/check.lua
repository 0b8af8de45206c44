-- Nothing when this token holds this machine now, else why not: machine, token, and the token of the caller's driver
-- or ''. Where an episode moves to another process both have its lease; the older one may then do nothing more.
local id, token, driver = unpack(ARGV)
local no = refusal(id, token, redis.call('HGET', TOKENS, id), redis.call('ZSCORE', LEASES, id))
if no or driver == '' then return no end
local known = redis.call('HGET', key('machine', id), 'driver') or ''
local of, newest = string.match(known, '^(%d+) (%d+)$')
if of == token and tonumber(newest) > tonumber(driver) then
    return 'stale_lease another process drives this episode now'
end
if known ~= token .. ' ' .. driver then redis.call('HSET', key('machine', id), 'driver', token .. ' ' .. driver) end
return nil
