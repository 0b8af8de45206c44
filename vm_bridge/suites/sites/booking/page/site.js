// A calendar of appointments: a month, the times of a day, and a form to book one.
"use strict";

const { h, t, input, field, choose, note } = Kit;

const TIMES = ["09:00", "09:45", "10:30", "11:15", "13:00", "13:45", "14:30", "15:15", "16:00"];
const SERVICES = { en: ["eye test", "bicycle repair", "piano lesson", "passport photo"], zh: ["验光", "自行车维修", "钢琴课", "证件照"] };

const daysIn = (m, month) => new Date(Date.UTC(m.year, month + 1, 0)).getUTCDate();
const weekday = (m, month, day) => (new Date(Date.UTC(m.year, month, day)).getUTCDay() + 6) % 7;
const takenOn = (m, month, day) => m.taken[`${month}-${day}`] ?? [];

function turn(m, by) {
  m.month = Math.min(m.first + 3, Math.max(m.first, m.month + by));
  m.day = m.time = null;
}

function grid(m) {
  const lead = weekday(m, m.month, 1), cells = [];
  for (let i = 0; i < lead; i++) cells.push(h("span"));
  for (let day = 1; day <= daysIn(m, m.month); day++) {
    const closed = weekday(m, m.month, day) > 4 || takenOn(m, m.month, day).length === TIMES.length;
    cells.push(h("button.day", { at: `day-${day}`, disabled: closed, "aria-pressed": String(m.day === day), on: { click: () => ((m.day = day), (m.time = null)) } }, day));
  }
  return h("div.month", { role: "grid" }, t("days").split(" ").map((d) => h("span.soft.small", {}, d)), cells);
}

const calendar = (m) => h("section.card.grow", {},
  h("div.spread", {}, h("button", { at: "earlier", "aria-label": t("earlier"), on: { click: () => turn(m, -1) } }, "‹"), h("h2", { "aria-live": "polite" }, t("month", m.year, t("months").split(" ")[m.month])), h("button", { at: "later", "aria-label": t("later"), on: { click: () => turn(m, 1) } }, "›")),
  grid(m));

function book(m) {
  if (m.day === null || m.time === null || !m.service || m.who.trim().length < 2) return (m.said = t("incomplete"));
  if (m.bookings.length === 3) return (m.said = t("full"));
  m.bookings.push({ month: m.month, day: m.day, time: m.time, service: m.service, who: m.who.trim() });
  m.said = "";
  m.day = m.time = null;
}

function form(m) {
  const taken = m.day === null ? [] : takenOn(m, m.month, m.day);
  const time = (v) => h("button.time", { at: `time-${v}`, disabled: taken.includes(v), "aria-pressed": String(m.time === v), on: { click: () => (m.time = v) } }, v);
  return h("section.card.form", {},
    h("h2", {}, m.day === null ? t("choose") : t("date", m.day, t("months").split(" ")[m.month])),
    m.day === null ? null : h("div.times", {}, TIMES.map(time)),
    h("div.field", {}, h("span.label", {}, t("service")), choose("service", m.ui, m.services.map((s) => [s, s]), m.service, (v) => (m.service = v))),
    field(t("who"), input("who", m.who, (v) => (m.who = v))),
    note(m.said, "bad"),
    h("button.primary", { at: "book", on: { click: () => book(m) } }, t("book")));
}

const booked = (m) => m.bookings.map((b, i) => h("li.spread.card", { "data-key": i }, h("span", {}, t("line", b.service, b.who, b.day, t("months").split(" ")[b.month], b.time)), h("button.bare.danger", { at: `cancel-${i}`, on: { click: () => m.bookings.splice(i, 1) } }, t("cancel"))));

function make(rng, task) {
  const { slots, picks, level } = task;
  let year = rng.int(2027, 2036), first = rng.int(0, 7);
  const goal = level === 1 ? first : first + 1;
  const m = { year, first, month: first, day: null, time: null, service: "", services: rng.shuffle(SERVICES[task.language]), who: level === 1 ? slots.who : "", taken: {}, bookings: [], said: "", ui: { open: null } };
  if (level < 3) while (weekday(m, goal, slots.day) > 4) m.year += 1; // the day asked for is no Saturday or Sunday
  for (let month = first; month <= first + 3; month++) {
    for (let day = 1; day <= daysIn(m, month); day++) {
      const times = TIMES.filter((v) => rng.chance(0.55) || (level === 3 && day < 9 && v >= "12:00" && weekday(m, month, day) === picks.weekday));
      m.taken[`${month}-${day}`] = times.filter((v) => level === 3 || month !== goal || day !== slots.day || v !== slots.time);
    }
  }
  if (level === 3) {
    let day = daysIn(m, goal);
    while (weekday(m, goal, day) !== picks.weekday) day -= 1;
    m.taken[`${goal}-${day}`] = m.taken[`${goal}-${day}`].filter((v) => v !== "16:00"); // one is free at the least
  }
  return m;
}

Kit.open({
  name: "booking",
  words: {
    en: { title: "Appointments", days: "Mo Tu We Th Fr Sa Su", months: "January February March April May June July August September October November December", month: "{1} {0}", earlier: "Earlier month", later: "Later month", choose: "Choose a day", date: "{1} {0}", service: "What for", who: "Name", book: "Book", incomplete: "Choose a day, a time and a service, and give a name.", full: "No more than three appointments.", line: "{0}, {1}: {3} {2}, {4}", cancel: "Cancel", mine: "Your appointments", shop: "Corner House" },
    zh: { title: "预约", days: "一 二 三 四 五 六 日", months: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月", month: "{0}年{1}", earlier: "上个月", later: "下个月", choose: "请选择日期", date: "{1}{0}日", service: "项目", who: "姓名", book: "预约", incomplete: "请选择日期、时间和项目，并填写姓名。", full: "最多三个预约。", line: "{0}，{1}：{3}{2}日 {4}", cancel: "取消", mine: "我的预约", shop: "街角小屋" },
  },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("shop")), h("span.soft.small", {}, t("title"))),
    h("main", {}, m.bookings.length ? h("section", {}, h("h2", {}, t("mine")), h("ul", {}, booked(m))) : null, h("div.sides", {}, calendar(m), form(m)))),
});
