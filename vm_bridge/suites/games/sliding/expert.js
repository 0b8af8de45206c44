"use strict";

// The shortest solution, by A* with the distances of the tiles from their places.
function advise(state) {
  const { view } = state;
  const beside = (place) => {
    const column = place % 3, row = Math.floor(place / 3);
    return [[column, row - 1], [column, row + 1], [column - 1, row], [column + 1, row]]
      .filter(([c, r]) => c >= 0 && r >= 0 && c < 3 && r < 3)
      .map(([c, r]) => r * 3 + c);
  };
  const away = (tiles) =>
    tiles.reduce((sum, tile, i) => {
      const goal = tile - 1;
      return tile ? sum + Math.abs((goal % 3) - (i % 3)) + Math.abs(Math.floor(goal / 3) - Math.floor(i / 3)) : sum;
    }, 0);

  // Nodes by their least possible length, so that the next to look at is found without sorting.
  const shelves = [], seen = new Map();
  const put = (node) => (shelves[node.steps + node.away] ||= []).push(node);
  put({ tiles: state.tiles, steps: 0, away: away(state.tiles), first: null });
  for (let length = 0; length < shelves.length; length++) {
    for (const node of shelves[length] || []) {
      if (node.away === 0) {
        if (node.first === null) return null;
        const left = node.steps, tile = state.tiles[node.first];
        return {
          thought: {
            en: `${left} move${left > 1 ? "s" : ""} to go; tile ${tile} slides into the gap next.`,
            zh: `还需 ${left} 步，下一步把 ${tile} 移入空格。`,
          },
          action: {
            kind: "click",
            x: Math.round(view.left + ((node.first % 3) + 0.5) * view.cell),
            y: Math.round(view.top + (Math.floor(node.first / 3) + 0.5) * view.cell),
          },
        };
      }
      const gap = node.tiles.indexOf(0);
      for (const place of beside(gap)) {
        const tiles = node.tiles.slice();
        [tiles[gap], tiles[place]] = [tiles[place], 0];
        const key = tiles.join(""), steps = node.steps + 1;
        if ((seen.get(key) ?? Infinity) <= steps) continue;
        seen.set(key, steps);
        put({ tiles, steps, away: away(tiles), first: node.first ?? place });
      }
    }
  }
  return null;
}
