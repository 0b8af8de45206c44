// A keypad whose digits stand anywhere; a code is to be entered, and confirmed.
"use strict";

const { h, t, button } = Kit;

function make(rng) {
  return { keys: rng.shuffle(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]), x: rng.int(0, 110), y: rng.int(0, 16), high: rng.int(30, 36), wide: rng.int(44, 60), entered: "", confirmed: null };
}

Kit.open({
  name: "keypad",
  words: { en: { title: "Code", ok: "OK", back: "Delete" }, zh: { title: "密码", ok: "好", back: "删除" } },
  make,
  view: (m) => h("main", { style: `padding:${m.y + 6}px 4px 4px ${m.x + 6}px` },
    h("output.display", { style: `width:${3 * m.wide + 8}px` }, m.entered || "–"),
    h("div.keys", { style: `grid-template-columns:repeat(3, ${m.wide}px);grid-auto-rows:${m.high}px` },
      m.keys.map((key) => button(`key-${key}`, key, () => m.entered.length < 8 && (m.entered += key))),
      button("back", "⌫", () => (m.entered = m.entered.slice(0, -1)), { "aria-label": t("back") }), button("ok", t("ok"), () => m.entered !== "" && (m.confirmed ??= m.entered), { class: "primary" }))),
});
