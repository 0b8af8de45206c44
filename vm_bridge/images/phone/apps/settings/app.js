/** Settings: connections, display, sound, language. What is set shows everywhere at once. */
import { h, icon } from "../shared/element.js";
import { back, change, go, mine, run, t } from "../shared/phone.js";
import { bar, body, choose, row, section, toggle } from "../shared/ui.js";

const THEMES = [["light", "Light", "浅色"], ["dark", "Dark", "深色"]];
const SIZES = [["small", "Small", "小"], ["normal", "Normal", "标准"], ["large", "Large", "大"]];
const LANGUAGES = [["en", "English", "English"], ["zh", "中文", "中文"]];

const set = (key, value) => change((settings) => (settings[key] = value));

/** A line that opens a menu of the values. */
function choice(sign, title, key, values) {
  const chosen = values.findIndex(([value]) => value === mine()[key]);
  const options = values.map(([value, en, zh]) => [t(en, zh), () => set(key, value)]);
  const [, en, zh] = values[chosen];
  return row({ lead: icon(sign), title, subtitle: t(en, zh), ontap: () => choose(title, options, chosen) });
}

function slider(sign, title, key) {
  const output = h("output", {}, `${mine()[key]}%`);
  const input = h("input", { type: "range", min: 0, max: 100, step: 5, value: mine()[key], "aria-label": title });
  input.addEventListener("input", () => (output.textContent = `${input.value}%`));
  input.addEventListener("change", () => set(key, Number(input.value)));
  return h("label.slider", {}, h("span", {}, icon(sign), title, output), input);
}

function airplane(on) {
  change((settings) => Object.assign(settings, { airplane: on, ...(on ? { wifi: false, network: null, bluetooth: false } : {}) }));
}

function all() {
  const { airplane: flying, wifi, network, bluetooth, do_not_disturb: quiet } = mine();
  const connected = network ?? (wifi ? t("Not connected", "未连接") : t("Off", "已关闭"));
  return [
    section(t("Connections", "连接")),
    h(
      "div.rows",
      {},
      toggle(t("Airplane mode", "飞行模式"), flying, airplane, { lead: icon("plane") }),
      row({ lead: icon("wifi"), title: t("Wi-Fi", "无线网络"), subtitle: connected, trail: icon("next"), ontap: () => go("wifi") }),
      toggle(t("Bluetooth", "蓝牙"), bluetooth, (on) => set("bluetooth", on), { lead: icon("bluetooth") }),
    ),
    section(t("Display", "显示")),
    h(
      "div.rows",
      {},
      slider("sun", t("Brightness", "亮度"), "brightness"),
      choice("moon", t("Theme", "主题"), "theme", THEMES),
      choice("text", t("Font size", "字体大小"), "font_size", SIZES),
    ),
    section(t("Sound", "声音")),
    h("div.rows", {}, slider("sound", t("Volume", "音量"), "volume"), toggle(t("Do not disturb", "勿扰模式"), quiet, (on) => set("do_not_disturb", on), { lead: icon("bell") })),
    section(t("System", "系统")),
    h(
      "div.rows",
      {},
      choice("globe", t("Language", "语言"), "language", LANGUAGES),
      row({ lead: icon("phone"), title: t("About phone", "关于手机"), trail: icon("next"), ontap: () => go("about") }),
    ),
  ];
}

const home = () => [bar(t("Settings", "设置")), body(all())];

function wifi() {
  const { wifi: on, network, networks } = mine();
  const flip = (value) => change((settings) => Object.assign(settings, { wifi: value, network: value ? settings.network : null }));
  const line = (name) =>
    row({ lead: icon("wifi"), title: name, subtitle: name === network ? t("Connected", "已连接") : "", trail: name === network ? icon("check") : null, ontap: () => set("network", name) });
  return [
    bar(t("Wi-Fi", "无线网络"), { onback: back }),
    body(h("div.rows", {}, toggle(t("Use Wi-Fi", "使用无线网络"), on, flip)), on && [section(t("Networks", "可用网络")), h("div.rows", {}, networks.map(line))]),
  ];
}

const about = () => [
  bar(t("About phone", "关于手机"), { onback: back }),
  body(
    h(
      "div.rows",
      {},
      row({ title: t("Model", "型号"), subtitle: "Pilothouse Simulator" }),
      row({ title: t("Serial number", "序列号"), subtitle: "PH-0412-0915" }),
      row({ title: t("Screen", "屏幕"), subtitle: "412 × 915" }),
    ),
  ),
];

run({ home, wifi, about });
