"use strict";

function advise(state) {
  if (state.won || state.lost) return null;
  const { lie, open, against } = state.now;
  const go = (kind, place, en, zh) => {
    const { x, y } = state.spots.find((spot) => spot.kind === kind && spot.place === place);
    return { thought: { en, zh }, action: { kind: "click", x, y } };
  };
  if (state.chosen !== lie) return go("said", lie, `Statement ${lie + 1} does not go with the evidence.`, `第 ${lie + 1} 句证言与证据不符。`);
  if (open[lie]) return go("question", 0, "The witness must be more precise.", "要让证人说得更具体。");
  if (state.item !== against) return go("record", against, `Item ${against + 1} of the evidence disproves it.`, `第 ${against + 1} 件证据推翻了它。`);
  return go("present", 0, "Both are selected: I present the evidence.", "两者都选好了，出示证据。");
}
