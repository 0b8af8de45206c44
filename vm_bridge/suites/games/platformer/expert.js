"use strict";

function advise(state) {
  const { runner, ground, blocks, size } = state;
  const act = (en, zh, action) => ({ thought: { en, zh }, action });
  if (!state.held.right) {
    return act("I run to the right and keep the key down.", "按住右键向右跑。", { kind: "press", key: "right" });
  }
  const front = runner.x + size;
  const edges = [...ground.keys()].filter((x) => x > 0 && !ground[x] && ground[x - 1]);
  const next = Math.min(...[...edges, ...blocks].filter((x) => x > runner.x + 0.3));
  const gap = edges.includes(next);
  // A pit is jumped with the front over its edge, a crate while there is room to rise.
  const near = gap ? next - runner.x < 1.3 : next - front < 1.9 && next - front > 0.35;
  if (runner.grounded && near) {
    return gap
      ? act("A pit begins here; I jump.", "前面有坑，跳过去。", { kind: "press_keys", keys: ["up"] })
      : act("A crate is in the way; I jump over it.", "前面有箱子，跳过去。", { kind: "press_keys", keys: ["up"] });
  }
  if (runner.grounded && next - front <= 0.35 && !gap) {
    return act("I stand before a crate; I jump.", "被箱子挡住了，起跳。", { kind: "press_keys", keys: ["up"] });
  }
  return runner.grounded
    ? act("The way is free; I run on.", "前方没有障碍，继续跑。", { kind: "wait", seconds: 0.1 })
    : act("I am in the air and wait to land.", "正在空中，等待落地。", { kind: "wait", seconds: 0.1 });
}
