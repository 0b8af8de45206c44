/** Clock: alarms, the world, a timer and a stopwatch. The time of day stands still; what runs counts on its own screen only. */
import { h } from "../shared/element.js";
import { back, change, go, mine, now, replace, run, t } from "../shared/phone.js";
import { bar, body, button, confirm, empty, fab, field, iconButton, row, searchable, tabs } from "../shared/ui.js";

const DAYS = [["M", "一"], ["T", "二"], ["W", "三"], ["T", "四"], ["F", "五"], ["S", "六"], ["S", "日"]];
const NAMES = [["Mon", "周一"], ["Tue", "周二"], ["Wed", "周三"], ["Thu", "周四"], ["Fri", "周五"], ["Sat", "周六"], ["Sun", "周日"]];
/** Cities and their minutes ahead of UTC in winter; the phone itself is in Hamburg. */
const CITIES = {
  Auckland: ["奥克兰", 780], Beijing: ["北京", 480], Cairo: ["开罗", 120], Delhi: ["德里", 330], London: ["伦敦", 0], Nairobi: ["内罗毕", 180],
  "New York": ["纽约", -300], "San Francisco": ["旧金山", -480], "São Paulo": ["圣保罗", -180], Sydney: ["悉尼", 660], Tokyo: ["东京", 540],
};
const HERE = 60;

const two = (number) => String(number).padStart(2, "0");
const cityName = (city) => t(city, CITIES[city]?.[0] ?? city);

const daysOf = (days) => {
  if (days.length === 0) return t("Once", "仅一次");
  if (days.length === 7) return t("Every day", "每天");
  if (days.join() === "1,2,3,4,5") return t("Weekdays", "工作日");
  if (days.join() === "6,7") return t("Weekend", "周末");
  return days.map((day) => t(...NAMES[day - 1])).join(" ");
};

const bottom = (chosen) =>
  tabs(
    [["home", t("Alarms", "闹钟"), "bell"], ["world", t("World", "世界时钟"), "globe"], ["timer", t("Timer", "计时器"), "timer"], ["stopwatch", t("Stopwatch", "秒表"), "stopwatch"]],
    chosen,
    (key) => replace(key),
  );

function alarmRow(alarm) {
  const flip = (event) => {
    event.stopPropagation();
    change(() => (alarm.on = !alarm.on));
  };
  const lever = h("button", { role: "switch", "aria-checked": String(alarm.on), "aria-label": t(`Alarm ${alarm.time}`, `闹钟 ${alarm.time}`), onclick: flip }, h("i.switch", { style: "display: block" }));
  lever.addEventListener("pointerdown", (event) => event.stopPropagation());
  const line = row({
    title: alarm.time,
    subtitle: [alarm.label, daysOf(alarm.days)].filter(Boolean).join(" · "),
    ontap: () => go("alarm", alarm.id),
    onhold: () => remove(alarm.id),
  });
  line.classList.add("alarm");
  return h("div.alarmline", {}, line, lever);
}

function remove(id, then) {
  confirm(t("Delete alarm?", "删除闹钟？"), "", t("Delete", "删除"), () => {
    change((clock) => (clock.alarms = clock.alarms.filter((alarm) => alarm.id !== id)));
    then?.();
  });
}

function home() {
  const alarms = [...mine().alarms].sort((one, other) => one.time.localeCompare(other.time));
  return [
    bar(t("Alarms", "闹钟")),
    body(alarms.length ? h("div.rows", {}, alarms.map(alarmRow)) : empty(t("No alarms", "没有闹钟"))),
    fab("add", t("New alarm", "新建闹钟"), () => go("alarm")),
    bottom("home"),
  ];
}

const drafts = new Map();

function alarm(id) {
  const known = mine().alarms.find((one) => one.id === id);
  if (!drafts.has(id)) drafts.set(id, { time: "08:00", label: "", days: [], on: true, ...structuredClone(known) });
  const draft = drafts.get(id);
  const again = () => replace("alarm", id);
  const leave = () => { drafts.delete(id); back(); };
  const save = () => {
    drafts.delete(id);
    change((clock) => {
      if (known) Object.assign(clock.alarms.find((one) => one.id === id), draft, { label: draft.label.trim() });
      else clock.alarms.push({ ...draft, label: draft.label.trim(), id: newId(clock.alarms) });
    });
    back();
  };
  const flip = (day) => { draft.days = draft.days.includes(day) ? draft.days.filter((one) => one !== day) : [...draft.days, day].sort(); again(); };
  return [
    bar(known ? t("Edit alarm", "编辑闹钟") : t("New alarm", "新建闹钟"), { onback: leave, actions: [known && iconButton("bin", t("Delete alarm", "删除闹钟"), () => remove(id, leave)), button(t("Save", "保存"), save, "strong")].filter(Boolean) }),
    body(
      spinner(draft, again),
      h("div.days", {}, DAYS.map((names, index) => h("button", { "aria-pressed": String(draft.days.includes(index + 1)), "aria-label": t(...NAMES[index]), onclick: () => flip(index + 1) }, t(...names)))),
      field(t("Label", "标签"), draft, "label"),
    ),
  ];
}

const newId = (alarms) => `a${Math.max(0, ...alarms.map(({ id }) => Number(id.slice(1)))) + 1}`;

/** Hours and minutes between plus and minus, five minutes a step, and a field for those who would rather type. */
function spinner(draft, again) {
  const shown = draft.time.split(":").map((part) => h("output", {}, part));
  const turn = (hours, minutes) => {
    const [hour, minute] = draft.time.split(":").map(Number);
    draft.time = `${two((hour + hours + 24) % 24)}:${two((minute + minutes + 60) % 60)}`;
    again();
  };
  const wheel = (output, up, down, more, less) => h("div.wheel", {}, iconButton("add", more, up), output, iconButton("minus", less, down));
  const typed = { time: draft.time };
  const take = (value) => {
    if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(value)) return;
    draft.time = value;
    value.split(":").forEach((part, index) => (shown[index].textContent = part));
  };
  return [
    h(
      "div.spin",
      {},
      wheel(shown[0], () => turn(1, 0), () => turn(-1, 0), t("Hour later", "晚一小时"), t("Hour earlier", "早一小时")),
      h("b", {}, ":"),
      wheel(shown[1], () => turn(0, 5), () => turn(0, -5), t("Minutes later", "晚五分钟"), t("Minutes earlier", "早五分钟")),
    ),
    field(t("Time", "时间"), typed, "time", { oninput: take }),
  ];
}

function world() {
  const lines = mine().cities.map((city) => row({
    title: cityName(city),
    subtitle: difference(city),
    trail: h("b", { style: "font-size: 1.6rem; font-weight: 400; color: var(--text)" }, timeIn(city)),
    onhold: () => confirm(t("Remove city?", "移除城市？"), cityName(city), t("Remove", "移除"), () => change((clock) => (clock.cities = clock.cities.filter((one) => one !== city)))),
  }));
  return [
    bar(t("World clock", "世界时钟")),
    body(h("div.face", {}, h("b", {}, now().slice(11, 16)), h("span", {}, t("Hamburg", "汉堡"))), h("div.rows", {}, lines)),
    fab("add", t("Add city", "添加城市"), () => go("cities")),
    bottom("world"),
  ];
}

function timeIn(city) {
  const [hours, minutes] = now().slice(11, 16).split(":").map(Number);
  const there = (hours * 60 + minutes + (CITIES[city]?.[1] ?? HERE) - HERE + 2880) % 1440;
  return `${two(Math.floor(there / 60))}:${two(there % 60)}`;
}

function difference(city) {
  const hours = ((CITIES[city]?.[1] ?? HERE) - HERE) / 60;
  return t(`${hours >= 0 ? "+" : "−"}${Math.abs(hours)} h`, `${hours >= 0 ? "+" : "−"}${Math.abs(hours)} 小时`);
}

function cities() {
  const list = (words) =>
    Object.entries(CITIES)
      .filter(([city, [zh]]) => `${city} ${zh}`.toLowerCase().includes(words) && !mine().cities.includes(city))
      .map(([city]) => row({ title: cityName(city), trail: timeIn(city), ontap: () => { change((clock) => clock.cities.push(city)); back(); } }));
  return [bar(t("Add city", "添加城市"), { onback: back }), body(searchable(t("Search city", "搜索城市"), list))];
}

const PRESETS = [1, 3, 5, 10, 15, 30];

function timer() {
  const { timer: seconds } = mine();
  const set = (value) => change((clock) => (clock.timer = value));
  const output = h("b", {}, clockOf(seconds * 1000));
  if (seconds > 0) count(output, (ms) => clockOf(Math.max(0, Math.ceil(seconds - ms / 1000)) * 1000));
  return [
    bar(t("Timer", "计时器")),
    body(
      h("div.face", {}, output, h("span", {}, seconds > 0 ? t("Running", "正在计时") : t("Choose how long", "选择时长"))),
      seconds > 0 ? button(t("Cancel", "取消"), () => set(0), "wide") : h("div.shelf", {}, PRESETS.map((minutes) => button(t(`${minutes} min`, `${minutes} 分钟`), () => set(minutes * 60), "tonal"))),
    ),
    bottom("timer"),
  ];
}

let started = null;

function stopwatch() {
  const output = h("b", {}, clockOf(0));
  if (started !== null) count(output, () => clockOf(performance.now() - started));
  const flip = () => { started = started === null ? performance.now() : null; replace("stopwatch"); };
  return [
    bar(t("Stopwatch", "秒表")),
    body(h("div.face", {}, output), button(started === null ? t("Start", "开始") : t("Stop", "停止"), flip, "wide")),
    bottom("stopwatch"),
  ];
}

const clockOf = (ms) => `${two(Math.floor(ms / 60_000))}:${two(Math.floor(ms / 1000) % 60)}`;

let counting;

/** Call `show` once a second with the milliseconds since now, for as long as what it writes into is on the screen. */
function count(output, show) {
  clearInterval(counting);
  const began = performance.now();
  counting = setInterval(() => {
    if (output.isConnected) output.textContent = show(performance.now() - began);
    else clearInterval(counting);
  }, 1000);
}

run({ home, alarm, world, cities, timer, stopwatch });
