"use strict";

// The hops that bring everybody across; null where there are none.
function crossing(leaves, frogs, dead = new Set()) {
  const { gone, whole } = progress(leaves, frogs);
  if (gone === whole) return [];
  if (dead.has(leaves.join())) return null;
  for (const at of movable(leaves)) {
    const rest = crossing(hopped(leaves, at), frogs, dead);
    if (rest) return [at, ...rest];
  }
  dead.add(leaves.join());
  return null;
}

function choose(state) {
  const hops = crossing(state.leaves, state.frogs), at = hops ? hops[0] : movable(state.leaves)[0];
  return {
    action: `leaf ${at}`,
    thought: {
      en: hops ? `${hops.length} hops are left; the animal on leaf ${at + 1} goes first.` : `Everybody will be stuck; leaf ${at + 1} can still hop.`,
      zh: hops ? `还需跳 ${hops.length} 次，先让第 ${at + 1} 片荷叶上的动物跳。` : `走不通了，只有第 ${at + 1} 片荷叶上的还能跳。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
