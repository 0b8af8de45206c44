-- The holder gives its machine back; nothing when the lease had ended before.
local id, token = ARGV[1], ARGV[2]
if redis.call('HGET', TOKENS, id) ~= token then return 0 end
local was = end_lease(id)
hand_back(id, was.host, was.image)
serve(was.image)
return 1
