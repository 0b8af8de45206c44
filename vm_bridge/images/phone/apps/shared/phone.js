/** What every app stands on: its state, its screens and the way back, the language, the bars above and below. */
import { h, icon } from "./element.js";

const app = location.pathname.split("/")[1];
const KEPT = `screens:${app}`;

let world;
let views;
let screens = JSON.parse(sessionStorage.getItem(KEPT) ?? "null") ?? [{ name: "home", scroll: 0 }];
let overlay = null;
let storing = Promise.resolve();
let said = "";

/** This app's part of the state. Change it only in `change`. */
export const mine = () => world[app];
/** Another app's part. */
export const part = (name) => world[name];
/** The phone's time, which stands still: ISO 8601 without a zone. */
export const now = () => world.now;
/** The text in the phone's language. */
export const t = (en, zh) => (world.settings.language === "zh" ? zh : en);

/** Change this app's part, or another's: it is drawn again at once, and stored after what was changed before. */
export function change(edit, name = app) {
  edit(world[name]);
  draw();
  const store = () => fetch(`/api/state/${name}`, { method: "PUT", body: JSON.stringify(world[name]) });
  storing = storing.then(store, store);
}

/** Show a screen on top of the present one. */
export function go(name, arg) {
  remember();
  screens.push({ name, arg, scroll: 0 });
  show();
}

/** Show a screen in the present one's place. */
export function replace(name, arg) {
  screens[screens.length - 1] = { name, arg, scroll: 0 };
  show();
}

/** Close a dialog, else go one screen up, else go home. */
export function back() {
  if (overlay !== null) return close();
  if (screens.length === 1) return app === "launcher" ? undefined : home();
  screens.pop();
  show();
}

export function home() {
  open("launcher");
}

/** Start another app, at a screen of its if one is named; what was changed in this one is stored first. */
export function open(name, screen, arg) {
  if (screen) sessionStorage.setItem(`screens:${name}`, JSON.stringify([{ name: "home", scroll: 0 }, { name: screen, arg, scroll: 0 }]));
  else sessionStorage.removeItem(`screens:${name}`);
  const leave = () => location.assign(`/${name}/`);
  storing.then(leave, leave);
}

/** Put a dialog or menu over everything; null takes it away. */
export function cover(element) {
  overlay = element;
  draw();
}

export const close = () => cover(null);

/** Say a short thing at the bottom until the next touch: a message that left by itself would change the screen unasked. */
export function say(text) {
  said = text;
  draw();
}

/** Draw the screens of an app: functions of their argument that give elements, by name; `home` comes first. */
export async function run(all) {
  views = all;
  const state = await fetch("/api/state");
  world = await state.json();
  if (!screens.every(({ name }) => name in views)) screens = [{ name: "home", scroll: 0 }];
  new EventSource(`/api/changes/${state.headers.get("Loads")}`).onmessage = restart;
  document.addEventListener("pointerdown", hush, { capture: true });
  document.addEventListener("contextmenu", (event) => event.preventDefault());
  window.phone = { back, home, open };
  draw();
}

function restart() {
  sessionStorage.clear();
  home();
}

function hush() {
  said = "";
  document.querySelector(".said")?.remove();
}

function show() {
  overlay = null;
  draw();
  sessionStorage.setItem(KEPT, JSON.stringify(screens));
}

function remember() {
  const scroller = document.querySelector("main");
  if (scroller) screens[screens.length - 1].scroll = scroller.scrollTop;
}

let drawn = null;

function draw() {
  const screen = screens[screens.length - 1];
  if (drawn === screen) remember();
  drawn = screen;
  const { settings } = world;
  const root = document.documentElement;
  root.lang = settings.language;
  root.dataset.theme = settings.theme;
  root.dataset.font = settings.font_size;
  root.style.setProperty("--dim", String(((100 - settings.brightness) / 100) ** 2 * 0.6));
  document.body.dataset.app = app;
  document.body.replaceChildren(
    statusBar(settings),
    h("div.screen", {}, views[screen.name](screen.arg)),
    navigationBar(),
    ...(said ? [h("div.said", { role: "status" }, said)] : []),
    ...(overlay ? [backdrop(overlay)] : []),
  );
  const scroller = document.querySelector("main");
  if (scroller) scroller.scrollTop = screen.scroll;
}

/** What lies under a dialog: touching it closes the dialog, lifting the finger that opened the dialog does not. */
function backdrop(dialog) {
  let touched = false;
  const onpointerdown = (event) => (touched = event.target === event.currentTarget);
  const onclick = (event) => touched && event.target === event.currentTarget && close();
  return h("div.cover", { onpointerdown, onclick }, dialog);
}

function statusBar(settings) {
  return h(
    "div.status",
    {},
    h("span", {}, now().slice(11, 16)),
    h(
      "span.signs",
      {},
      settings.do_not_disturb && icon("moon"),
      settings.bluetooth && !settings.airplane && icon("bluetooth"),
      settings.airplane ? icon("plane", true) : null,
      settings.wifi && settings.network ? icon("wifi") : null,
      h("span.battery", {}, h("i")),
      "76%",
    ),
  );
}

function navigationBar() {
  return h(
    "nav",
    {},
    h("button", { "aria-label": t("Back", "返回"), onclick: back }, icon("back")),
    h("button", { "aria-label": t("Home", "主屏幕"), onclick: home }, h("i.ring")),
  );
}
