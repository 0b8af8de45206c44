-- wrk's side of the lease benchmark: claims, releases and batched renewals, each its own connection's turn.
-- Arguments: which mix (`mixed` or `claims`), a file of renewal bodies, one a line.
local mix, bodies = nil, {}
local held, waiting, turn, number = {}, {}, 0, 0
local counts = {claimed = 0, released = 0, renewed = 0, waited = 0, failed = 0}
local threads = {}
local headers = {['Content-Type'] = 'application/json'}

function setup(thread)
    thread:set('own', #threads + 1)
    threads[#threads + 1] = thread
end

function init(arguments)
    mix = arguments[1]
    headers['Authorization'] = 'Bearer ' .. arguments[2]
    for line in io.lines(arguments[3]) do bodies[#bodies + 1] = line end
    math.randomseed(own * 7919)
    nonce = string.format('%d-%d-%d', own, os.time(), math.random(1, 1000000))
end

local function renew()
    turn = turn % #bodies + 1
    return wrk.format('POST', '/v1/leases/renew', headers, bodies[turn])
end

local function claim()
    number = number + 1
    local body = string.format(
        '{"image":"desktop","holder":"load","user":"u%d","session":"s-%s-%d","request_id":"%s-%d","ttl":60,"wait":0}',
        number % 50, nonce, number, nonce, number)
    return wrk.format('POST', '/v1/leases', headers, body)
end

local function release()
    local lease = table.remove(held)
    local with = {['Authorization'] = headers['Authorization'], ['X-Fencing-Token'] = lease[2]}
    return wrk.format('DELETE', '/v1/leases/' .. lease[1], with)
end

-- Nothing was free, for the host was behind with its resets: leave the queue.
local function give_up()
    counts.released = counts.released - 1  -- its 204 is not a release's
    return wrk.format('DELETE', '/v1/claims/' .. table.remove(waiting), headers)
end

function request()
    if #waiting > 0 then return give_up() end
    if mix == 'mixed' and math.random() < 0.5 then return renew() end
    if #held > 0 and math.random() < 0.5 + #held / 200 then return release() end
    return claim()
end

function response(status, _, body)
    if status == 202 then
        counts.waited = counts.waited + 1
        waiting[#waiting + 1] = string.match(body, '"request_id":"([^"]+)"')
    elseif status == 204 then
        counts.released = counts.released + 1
    elseif status ~= 200 then
        counts.failed = counts.failed + 1
    elseif string.sub(body, 1, 1) == '[' then
        local _, refused = string.gsub(body, '"code":"', '')
        local _, all = string.gsub(body, '"machine_id"', '')
        counts.renewed = counts.renewed + all - refused
        counts.failed = counts.failed + refused
    else
        counts.claimed = counts.claimed + 1
        held[#held + 1] = {string.match(body, '"machine_id":"([^"]+)"'), string.match(body, '"fencing_token":(%d+)')}
    end
    for name, count in pairs(counts) do _G[name] = count end
end

function done(summary, latency)
    local sum = {claimed = 0, released = 0, renewed = 0, waited = 0, failed = 0}
    for _, thread in ipairs(threads) do
        for name in pairs(sum) do sum[name] = sum[name] + (thread:get(name) or 0) end
    end
    io.write(string.format(
        '{"seconds":%f,"requests":%d,"p50_ms":%f,"p99_ms":%f,"claimed":%d,"released":%d,"renewed":%d,"waited":%d,"failed":%d}\n',
        summary.duration / 1e6, summary.requests, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
        sum.claimed, sum.released, sum.renewed, sum.waited, sum.failed + summary.errors.connect + summary.errors.timeout))
end
