// Numbers that go up and down by one; one of them is to have a value, the others stay as they are.
"use strict";

const { h, t, button } = Kit;

function make(rng, task) {
  const [asked] = task.slots.names, { goal } = task.slots;
  const away = rng.int(2, task.level === 1 ? 3 : 4), begin = goal - away < 0 || (task.level > 1 && goal + away <= 9 && rng.chance(0.5)) ? goal + away : goal - away;
  const lines = rng.shuffle(task.slots.names).map((name) => {
    const value = name === asked ? begin : rng.int(1, 8);
    return { name, value, before: value };
  });
  return { lines, y: rng.int(0, 40), gap: rng.int(4, 16) };
}

const step = (line, by) => (line.value = Math.min(9, Math.max(0, line.value + by)));

Kit.open({
  name: "stepper",
  words: { en: { title: "Numbers", less: "Less of {0}", more: "More of {0}" }, zh: { title: "数量", less: "减少{0}", more: "增加{0}" } },
  make,
  view: (m) => h("main", { style: `padding-top:${m.y + 8}px` }, m.lines.map((line) => h("div.line", { style: `margin-bottom:${m.gap}px` }, h("span.grow", {}, line.name),
    button(`less-${line.name}`, "−", () => step(line, -1), { "aria-label": t("less", line.name) }), h("output.value", {}, line.value), button(`more-${line.name}`, "+", () => step(line, 1), { "aria-label": t("more", line.name) })))),
});
