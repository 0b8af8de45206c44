// Files and folders lying about; a file is to be dragged into a folder.
"use strict";

const { h } = Kit;

const HIGH = { file: 26, folder: 40 };

function make(rng, task) {
  const { names } = task.slots;
  const kinds = names.map((_, i) => (i % 2 === 0 ? "file" : "folder"));
  const boxes = Scatter.boxes(rng, names.map((name, i) => [Scatter.wide(name) + (kinds[i] === "file" ? 22 : 34), HIGH[kinds[i]]]));
  return { things: boxes.map((box, i) => ({ name: names[i], kind: kinds[i], box })), held: null, x: 0, y: 0, filed: null };
}

const under = (m, x, y, kind) => m.things.find(({ kind: k, box }) => k === kind && x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h);

addEventListener("pointerdown", (e) => {
  const m = Kit.model(), file = under(m, e.clientX, e.clientY, "file");
  if (!file || m.filed !== null || e.button !== 0) return;
  e.preventDefault();
  Object.assign(m, { held: file.name, x: e.clientX, y: e.clientY });
  Kit.draw();
});

addEventListener("pointermove", (e) => {
  const m = Kit.model();
  if (m.held === null) return;
  Object.assign(m, { x: e.clientX, y: e.clientY });
  Kit.draw();
});

addEventListener("pointerup", (e) => {
  const m = Kit.model();
  if (m.held === null) return;
  const folder = under(m, e.clientX, e.clientY, "folder");
  if (folder) m.filed = { file: m.held, folder: folder.name };
  m.held = null;
  Kit.draw();
});

const placed = (m, { name, box }) => Scatter.style(m.held === name ? { ...box, x: Math.round(m.x - box.w / 2), y: Math.round(m.y - box.h / 2) } : box);

Kit.open({
  name: "filing",
  words: { en: { title: "Files and folders" }, zh: { title: "文件与文件夹" } },
  make,
  view: (m) => h("main", {}, m.things.filter(({ name }) => m.filed?.file !== name).map((thing) => h("div", { class: thing.kind, at: thing.name, "data-key": thing.name, style: placed(m, thing) }, thing.name))),
});
