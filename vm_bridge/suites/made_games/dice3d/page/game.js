"use strict";

const NAMES = {
  en: ["red", "blue", "yellow", "green", "violet", "orange"],
  zh: ["红", "蓝", "黄", "绿", "紫", "橙"],
};
const COLOURS = pilothouse.theme.colours.map(game.rgb), GREY = [0.72, 0.74, 0.77], DARK = [0.2, 0.22, 0.25];

madeGame.define({
  title: { en: "Rolling die", zh: "滚骰子" },
  status: ({ sides: [, bottom, , back, left], left: rolls, colour }) => ({
    en: `${NAMES.en[colour]} on top · rolls ${rolls} · below ${NAMES.en[bottom]}, behind ${NAMES.en[back]}, left ${NAMES.en[left]}`,
    zh: `目标：${NAMES.zh[colour]}色朝上 · 剩 ${rolls} 次 · 下${NAMES.zh[bottom]} 后${NAMES.zh[back]} 左${NAMES.zh[left]}`,
  }),
  keys: { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" },
  scene(solid, look, { size, gaps, at, sides, goal, colour }) {
    const middle = (size - 1) / 2;
    look([middle + 2.2, size + 2.4, size * 1.6 + 2.6], [middle, 0, middle]);
    for (let tile = 0; tile < size * size; tile++) {
      if (gaps.includes(tile)) continue;
      solid("box", [tile % size, -0.1, Math.floor(tile / size)], [0.94, 0.2, 0.94], tile === goal ? COLOURS[colour] : GREY);
    }
    const x = at % size, z = Math.floor(at / size), y = 0.42;
    solid("box", [x, y, z], [0.78, 0.78, 0.78], DARK);
    solid("box", [x, y + 0.4, z], [0.66, 0.04, 0.66], COLOURS[sides[0]]);
    solid("box", [x, y, z + 0.4], [0.66, 0.66, 0.04], COLOURS[sides[2]]);
    solid("box", [x + 0.4, y, z], [0.04, 0.66, 0.66], COLOURS[sides[5]]);
  },
});
