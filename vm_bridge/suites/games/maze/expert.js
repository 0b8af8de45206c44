"use strict";

function advise(state) {
  const { columns, doors, player, goal, coins } = state;
  const came = new Map([[player, null]]);
  for (const place of came.keys()) for (const next of doors[place]) if (!came.has(next)) came.set(next, place);
  const path = (to) => {
    const places = [];
    for (let place = to; place !== player; place = came.get(place)) places.unshift(place);
    return places;
  };
  const aim = coins.length ? coins.map(path).sort((a, b) => a.length - b.length)[0] : path(goal);
  const by = aim[0] - player;
  const [key, zh] = by === 1 ? ["right", "右"] : by === -1 ? ["left", "左"] : by === columns ? ["down", "下"] : ["up", "上"];
  return {
    thought: coins.length
      ? { en: `The nearest coin is ${aim.length} fields away; the way begins ${key}.`, zh: `最近的金币在 ${aim.length} 格外，先向${zh}走。` }
      : { en: `The flag is ${aim.length} fields away; the way begins ${key}.`, zh: `旗子在 ${aim.length} 格外，先向${zh}走。` },
    action: { kind: "press_keys", keys: [key] },
  };
}
