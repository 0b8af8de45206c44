// Settings in sections, one of them shown only to who asks for it; nothing holds until it is saved.
"use strict";

const { h, t, input, choose, dialog, note, path } = Kit;

const TREE = {
  general: ["dark", "size", "language"],
  alerts: ["sound", "banner", "vibrate"],
  privacy: ["location", "history", "advanced"],
  media: ["captions", "autoplay", "sync"],
  quietly: ["quiet", "volume"],
};
const KINDS = { size: ["small", "medium", "large", "huge"], language: ["English", "中文", "Deutsch"], quiet: ["never", "evening", "night", "weekend"] };

const sections = (m) => m.order.filter((name) => name !== "quietly" || m.now.advanced);
const sectionNow = (m) => (sections(m).includes(path()[0]) ? path()[0] : sections(m)[0]);

function toggle(m, name) {
  if (name === "advanced" && !m.now.advanced) m.asked = true;
  else m.now[name] = !m.now[name];
}

function setting(m, name) {
  const label = h("span.grow", {}, t(name));
  if (name === "volume") {
    const step = (by) => (m.now.volume = Math.min(100, Math.max(0, m.now.volume + by)));
    return h("li.setting", { "data-key": name }, label, h("button", { at: "volume-less", "aria-label": t("less"), on: { click: () => step(-20) } }, "−"), h("output.volume", {}, m.now.volume), h("button", { at: "volume-more", "aria-label": t("more"), on: { click: () => step(20) } }, "+"));
  }
  if (name in KINDS) return h("li.setting", { "data-key": name }, label, h("div.pick", {}, choose(name, m.ui, KINDS[name].map((k) => [k, t(k)]), m.now[name], (v) => (m.now[name] = v))));
  return h("li.setting", { "data-key": name }, label, h("button.switch", { at: name, role: "switch", "aria-checked": String(m.now[name]), "aria-label": t(name), on: { click: () => toggle(m, name) } }, h("span.knob")));
}

function found(m) {
  const words = m.search.trim().toLowerCase();
  return sections(m).flatMap((s) => TREE[s]).filter((name) => t(name).toLowerCase().includes(words));
}

function make(rng, task) {
  const now = {};
  for (const name of Object.values(TREE).flat()) now[name] = rng.chance(0.5);
  Object.assign(now, { size: "medium", language: task.language === "en" ? "English" : "中文", quiet: "never", volume: 0, advanced: false });
  return { order: [...rng.shuffle(["general", "alerts", "privacy", "media"]), "quietly"], now, saved: { ...now }, before: { ...now }, search: "", asked: false, ui: { open: null } };
}

const sure = (m) => dialog(t("sure"), h("p", {}, t("sureText")), h("div.row", {}, h("button.primary", { at: "yes", on: { click: () => ((m.asked = false), (m.now.advanced = true)) } }, t("yes")), h("button", { at: "no", on: { click: () => (m.asked = false) } }, t("no"))));

Kit.open({
  name: "settings",
  words: {
    en: { title: "Settings", search: "Search settings", general: "General", alerts: "Alerts", privacy: "Privacy", media: "Media", quietly: "Quiet hours", dark: "Dark appearance", size: "Text size", language: "Language", sound: "Notification sound", banner: "Banners", vibrate: "Vibration", location: "Share location", history: "Keep history", advanced: "Show advanced settings", captions: "Captions", autoplay: "Play by itself", sync: "Sync over mobile data", quiet: "Quiet hours", volume: "Quiet volume", small: "Small", medium: "Medium", large: "Large", huge: "Huge", never: "Never", evening: "Evening", night: "Night", weekend: "Weekend", save: "Save", unsaved: "Changes are not saved yet.", saved: "All is saved.", sure: "Advanced settings", sureText: "These settings are for people who know them. Show them?", yes: "Show", no: "Not now", less: "Less", more: "More" },
    zh: { title: "设置", search: "搜索设置", general: "通用", alerts: "提醒", privacy: "隐私", media: "媒体", quietly: "安静时段", dark: "深色外观", size: "文字大小", language: "语言", sound: "通知声音", banner: "横幅", vibrate: "振动", location: "共享位置", history: "保留历史", advanced: "显示高级设置", captions: "字幕", autoplay: "自动播放", sync: "移动数据同步", quiet: "安静时段", volume: "安静音量", small: "小", medium: "中", large: "大", huge: "特大", never: "从不", evening: "傍晚", night: "夜间", weekend: "周末", save: "保存", unsaved: "有未保存的修改。", saved: "已全部保存。", sure: "高级设置", sureText: "这些设置适合了解它们的人。要显示吗？", yes: "显示", no: "暂不", less: "减少", more: "增加" },
  },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title")), h("span.room"), h("div.search", {}, input("search", m.search, (v) => (m.search = v), { placeholder: t("search"), "aria-label": t("search") }))),
    h("main", {}, h("div.sides", {}, h("nav.tabs", {}, sections(m).map((name) => h("a.tab", { at: `section-${name}`, href: Kit.href(name), "aria-selected": String(sectionNow(m) === name), on: { click: () => (m.search = "") } }, t(name)))),
      h("section.grow", {}, h("div.card", {}, h("h2", {}, m.search.trim() ? t("search") : t(sectionNow(m))), h("ul", {}, (m.search.trim() ? found(m) : TREE[sectionNow(m)]).map((name) => setting(m, name)))),
        h("div.row", {}, h("button.primary", { at: "save", on: { click: () => (m.saved = { ...m.now }) } }, t("save")), note(JSON.stringify(m.now) === JSON.stringify(m.saved) ? t("saved") : t("unsaved")))))),
    m.asked ? sure(m) : null),
});
