"use strict";

// Places every piece where it was cut from; what lies in the way goes back to the tray first.
function advise(state) {
  const { pieces, view } = state;
  const home = (piece) => piece.at && piece.at[0] === piece.home[0] && piece.at[1] === piece.home[1];
  const cells = (piece, at) => piece.cells.map(([dx, dy]) => `${at[0] + dx},${at[1] + dy}`);
  const left = pieces.filter((piece) => !home(piece)).length;
  const wrong = pieces.find((piece) => piece.at && !home(piece));
  const start = (piece) => ({ x: Math.round(piece.x), y: Math.round(piece.y) });
  if (wrong) {
    return {
      thought: { en: "This piece lies where another belongs; I take it off the board.", zh: "这个图块占了别的位置，先拿下来。" },
      action: { kind: "drag", start: start(wrong), end: state.tray },
    };
  }
  const taken = new Set(pieces.filter((piece) => piece.at).flatMap((piece) => cells(piece, piece.at)));
  const piece = pieces.find((one) => !home(one) && cells(one, one.home).every((cell) => !taken.has(cell)));
  if (!piece) return null;
  return {
    thought: {
      en: `${left} to place. This piece fits at column ${piece.home[0] + 1}, row ${piece.home[1] + 1}.`,
      zh: `还有 ${left} 个。这个图块适合放在第 ${piece.home[1] + 1} 行第 ${piece.home[0] + 1} 列。`,
    },
    action: {
      kind: "drag",
      start: start(piece),
      end: {
        x: Math.round(view.left + (piece.home[0] + 0.5) * view.cell),
        y: Math.round(view.top + (piece.home[1] + 0.5) * view.cell),
      },
    },
  };
}
