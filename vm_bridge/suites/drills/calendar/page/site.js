// A month of days, one of which is to be chosen; from the second level on in another month, two away at most.
"use strict";

const { h, t, button } = Kit;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function make(rng, task) {
  const away = task.level === 1 ? 0 : rng.pick([-2, -1, 1, 2]);
  return { month: (task.picks.month + away + 12) % 12, first: rng.int(0, 6), x: rng.int(0, 50), y: rng.int(0, 20), chosen: null };
}

const turned = (m, by) => {
  m.first = (m.first + (by > 0 ? DAYS[m.month] : 70 - DAYS[(m.month + 11) % 12])) % 7;
  m.month = (m.month + by + 12) % 12;
};

Kit.open({
  name: "calendar",
  words: {
    en: { title: "Calendar", back: "Month before", on: "Month after", days: "Mo Tu We Th Fr Sa Su", months: "January February March April May June July August September October November December" },
    zh: { title: "日历", back: "上个月", on: "下个月", days: "一 二 三 四 五 六 日", months: "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月" },
  },
  make,
  view: (m) => h("main", { style: `padding:${m.y}px 4px 0 ${m.x}px` }, h("div.month", {},
    h("div.spread", {}, button("back", "‹", () => turned(m, -1), { "aria-label": t("back") }), h("strong", {}, t("months").split(" ")[m.month]), button("on", "›", () => turned(m, 1), { "aria-label": t("on") })),
    h("div.days", {}, t("days").split(" ").map((day) => h("span.soft.small", {}, day)), Array.from({ length: m.first }, () => h("span")),
      Array.from({ length: DAYS[m.month] }, (_, i) => button(`day-${i + 1}`, i + 1, () => (m.chosen ??= { month: m.month, day: i + 1 }), { "aria-pressed": String(m.chosen?.month === m.month && m.chosen.day === i + 1) }))))),
});
