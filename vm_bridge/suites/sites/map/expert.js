// Comes closer and drags until a town is in sight, clicks it, gives it its part, starts the route, answers.
function advise(state, task) {
  const hands = handsOf(state), { stops, mode } = task.picks, level = task.level, [a, b, c] = stops, { route, cam } = state;
  function choose(id) {
    const town = state.towns[id], dot = hands.parts[`town-${id}`], map = hands.parts.map;
    if (dot?.shown) return hands.click(`town-${id}`, `There is ${town.name}.`, `找到${town.name}了。`);
    if (town.small && cam.k < 2) return hands.click("closer", `${town.name} is a small place; I come closer.`, `${town.name}是小地方，放大地图。`);
    const s = Math.max(map.w / 1000, map.h / 760) * cam.k; // how far the town is from the middle of what is seen
    const reach = (distance, room) => Math.round(Math.max(-room, Math.min(room, distance)));
    const dx = reach((cam.x + map.w / s / 2 - town.x) * s, map.w * 0.35), dy = reach((cam.y + map.h / s / 2 - town.y) * s, map.h * 0.35);
    const start = { x: Math.round(map.x - dx / 2), y: Math.round(map.y - dy / 2) };
    return hands.drag(start, { x: start.x + dx, y: start.y + dy }, `${town.name} lies outside of what I see; I drag the map.`, `${town.name}不在视野里，拖动地图。`);
  }
  if (level === 1) {
    if (state.favourites.includes(a)) return done(hands);
    return state.chosen === a ? hands.click("favourite", "It is chosen; I make it a favourite.", "已选中，收藏它。") : choose(a);
  }
  const wish = level === 2 ? [["from", a], ["to", b]] : [["from", a], ["via", b], ["to", c]];
  for (const [role, id] of wish) {
    if (route[role] === id) continue;
    const word = { from: ["the beginning", "起点"], via: ["a stop on the way", "途经点"], to: ["the end", "终点"] }[role];
    return state.chosen === id ? hands.click(`as-${role}`, `It is ${word[0]} of the route.`, `把它设为${word[1]}。`) : choose(id);
  }
  const wanted = ["foot", "bicycle", "car"][mode];
  if (route.mode !== wanted) return hands.click(`mode-${wanted}`, `The way is made ${task.slots.mode}.`, `出行方式是${task.slots.mode}。`);
  if (!state.started.length) return hands.click("start", "The route is right; I start it.", "路线正确，开始。");
  const { km } = state.started.at(-1);
  return level === 2 ? done(hands) : hands.finish(String(km), `The map says ${km} kilometres.`, `地图显示 ${km} 公里。`);
}
