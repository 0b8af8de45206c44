-- Give up a request, whether it waits or was granted.
local request = ARGV[1]
leave_queue(request)
local id = string.match(redis.call('GET', key('claim', request)) or '', '^leased (.+)$')
if id then
    local was = end_lease(id)
    if was then
        hand_back(id, was.host, was.image)
        serve(was.image)
    end
end
