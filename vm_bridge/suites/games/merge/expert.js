"use strict";

function advise(state) {
  const { pieces, size, view, button } = state;
  let pair = null;
  pieces.forEach((kind, place) => {
    const twin = kind ? pieces.indexOf(kind, place + 1) : -1;
    if (twin > 0 && (!pair || kind > pair.kind)) pair = { kind, place, twin };
  });
  if (!pair) {
    return {
      thought: { en: "No two pieces are alike, so I ask for a new one.", zh: "没有相同的图块，先添加一个新的。" },
      action: { kind: "click", ...button },
    };
  }
  const point = (place) => ({
    x: Math.round(view.left + ((place % size) + 0.5) * view.cell),
    y: Math.round(view.top + (Math.floor(place / size) + 0.5) * view.cell),
  });
  return {
    thought: { en: `Two pieces say ${pair.kind}; together they make ${pair.kind + 1}.`, zh: `有两个 ${pair.kind}，合成 ${pair.kind + 1}。` },
    action: { kind: "drag", start: point(pair.place), end: point(pair.twin) },
  };
}
