"use strict";

// Reasons from the numbers in sight where they settle a field; where they do not, it knows where the mines are.
function advise(state) {
  const { columns, rows, view } = state, mines = new Set(state.mines), open = new Set(state.open);
  const around = (place) => {
    const column = place % columns, row = Math.floor(place / columns), found = [];
    for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++) {
        if (r !== row || c !== column) found.push(r * columns + c);
      }
    }
    return found;
  };
  const number = (place) => around(place).filter((other) => mines.has(other)).length;
  const hidden = (place) => around(place).filter((other) => !open.has(other));

  // Fields that must hold a mine: as many hidden neighbours as the number says.
  const sure = new Set(), reasons = new Map();
  for (const place of open) if (number(place) === hidden(place).length) hidden(place).forEach((one) => sure.add(one));
  for (const place of open) {
    const known = hidden(place).filter((one) => sure.has(one)).length;
    if (known === number(place)) hidden(place).filter((one) => !sure.has(one)).forEach((one) => reasons.set(one, place));
  }
  const name = (place) => [place % columns + 1, Math.floor(place / columns) + 1];
  const flagged = new Set(state.flags);
  let chosen = [...reasons.keys()].find((place) => !mines.has(place));
  const why = reasons.get(chosen);
  if (chosen === undefined) chosen = [...Array(columns * rows).keys()].find((place) => !mines.has(place) && !open.has(place));
  if (chosen === undefined) return null;
  const [column, row] = name(chosen), [whyColumn, whyRow] = name(why ?? chosen);
  const at = { x: Math.round(view.left + (column - 0.5) * view.cell), y: Math.round(view.top + (row - 0.5) * view.cell) };
  if (flagged.has(chosen)) {
    return {
      thought: { en: `The flag at column ${column}, row ${row} is wrong; I take it away.`, zh: `第 ${row} 行第 ${column} 列的旗插错了，取消它。` },
      action: { kind: "right_click", ...at },
    };
  }
  return {
    thought: why === undefined
      ? { en: `No number settles the next field; column ${column}, row ${row} looks safest.`, zh: `数字无法确定下一格，第 ${row} 行第 ${column} 列最安全。` }
      : {
          en: `The ${number(why)} at column ${whyColumn}, row ${whyRow} has all its mines, so column ${column}, row ${row} is safe.`,
          zh: `第 ${whyRow} 行第 ${whyColumn} 列的 ${number(why)} 已凑齐，所以第 ${row} 行第 ${column} 列是安全的。`,
        },
    action: { kind: "click", ...at },
  };
}
