-- An operator takes a machine back; its holder is told why.
local was = end_lease(ARGV[1], 'stale_lease ' .. ARGV[2])
if not was then return 0 end
hand_back(ARGV[1], was.host, was.image)
serve(was.image)
return 1
