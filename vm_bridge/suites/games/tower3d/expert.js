"use strict";

function advise(state) {
  const space = { kind: "press_keys", keys: ["space"] };
  if (!state.started) return { thought: { en: "The game starts with the space key.", zh: "按空格开始游戏。" }, action: space };
  const { moving, slabs, speed, reach } = state, off = moving[moving.axis] - slabs.at(-1)[moving.axis];
  // Way until the slab is over the tower: straight on, or to the end of its swing and back.
  const ahead = -off * moving.way;
  const seconds = (ahead >= -0.04 ? ahead : 2 * (reach - off * moving.way) + off * moving.way) / speed;
  if (seconds < 0.06) return { thought: { en: "The slab is over the tower; I drop it.", zh: "石板对准了，放下。" }, action: space };
  const pause = Math.max(0.05, Math.floor((seconds - 0.02) * 20) / 20);
  return {
    thought: { en: `The slab needs ${pause.toFixed(2)} s more to be over the tower.`, zh: `石板还需 ${pause.toFixed(2)} 秒到塔的正上方。` },
    action: { kind: "wait", seconds: pause },
  };
}
