/** The parts screens are made of: bars, rows, fields, switches, dialogs, menus. */
import { h, icon } from "./element.js";
import { close, cover, t } from "./phone.js";

const HOLD_MS = 500;
const SLACK = 12;
const SWIPED = 80;

/** The bar on top of a screen; `actions` are icon buttons. */
export const bar = (title, { actions = [], onback } = {}) =>
  h("header", {}, onback && iconButton("back", t("Up", "向上"), onback), h("h1", {}, title), h("div.actions", {}, actions));

export const iconButton = (name, label, onclick, full = false) => h("button.sign", { "aria-label": label, title: label, onclick }, icon(name, full));

/** What a screen shows below its bar; it scrolls. */
export const body = (...children) => h("main", {}, ...children);

export const empty = (text) => h("p.empty", {}, text);

export const section = (title) => h("h2", {}, title);

/** The round button at the lower right. */
export const fab = (name, label, onclick) => h("button.fab", { "aria-label": label, onclick }, icon(name));

export const button = (label, onclick, kind = "plain") => h(`button.button.${kind}`, { onclick }, label);

/** A circle with the first letter of a name, in a colour that belongs to the name; `size` may be "large". */
export function avatar(name, size = "small") {
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);
  return h(`span.avatar.${size}`, { style: `--hue: ${hue}`, "aria-hidden": "true" }, [...name][0] ?? "?");
}

/**
 * A line of a list. `onhold` is called when it is pressed and held, `onswipe` when it is moved aside.
 */
export function row({ lead, title, subtitle, trail, ontap, onhold, onswipe, label }) {
  const element = h(
    ontap ? "button.row" : "div.row",
    { "aria-label": label },
    lead,
    h("span.words", {}, h("b", {}, title), subtitle && h("small", {}, subtitle)),
    trail && h("span.trail", {}, trail),
  );
  touch(element, { ontap, onhold, onswipe });
  return element;
}

/** Tell tap, hold and sideways swipe apart; a hold fires while the finger still is down. */
export function touch(element, { ontap, onhold, onswipe }) {
  let from = null;
  let timer;
  let used = false;
  let aside = false;
  if (onswipe) element.classList.add("swipes");
  element.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY };
    used = aside = false;
    if (onhold) timer = setTimeout(() => { used = true; onhold(); }, HOLD_MS);
  });
  element.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    if (Math.hypot(dx, dy) > SLACK) clearTimeout(timer);
    aside = onswipe && Math.abs(dx) > Math.abs(dy);
    if (aside) element.style.transform = `translateX(${dx}px)`;
  });
  // Else the browser makes a fling of it, and the next tap would only stop that fling.
  element.addEventListener("touchmove", (event) => aside && event.preventDefault(), { passive: false });
  const end = (event) => {
    clearTimeout(timer);
    const dx = from ? event.clientX - from.x : 0;
    from = null;
    element.style.transform = "";
    if (!onswipe || event.type !== "pointerup" || Math.abs(dx) < SWIPED) return;
    used = true;
    onswipe();
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("click", () => !used && ontap?.());
}

/** A line with a switch. */
export function toggle(title, on, onchange, { lead, subtitle } = {}) {
  return h(
    "button.row",
    { role: "switch", "aria-checked": String(on), onclick: () => onchange(!on) },
    lead,
    h("span.words", {}, h("b", {}, title), subtitle && h("small", {}, subtitle)),
    h("i.switch"),
  );
}

/** A labelled text field that writes into `draft[key]` and can be cleared at once. */
export function field(label, draft, key, { type = "text", focus = false, oninput } = {}) {
  const take = () => {
    draft[key] = input.value;
    oninput?.(input.value);
  };
  const input = h("input", { type, id: `field-${key}`, autocomplete: "off", spellcheck: "false", oninput: take });
  input.value = draft[key] ?? "";
  const clear = () => { input.value = ""; take(); input.focus(); };
  if (focus) requestAnimationFrame(() => input.focus());
  return h("div.field", {}, h("label", { for: input.id }, label), input, iconButton("close", t(`Clear: ${label}`, `清空：${label}`), clear));
}

/** A search field over a list: `list(words)` gives the rows that match. */
export function searchable(label, list) {
  const rows = h("div.rows", {}, list(""));
  const input = h("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    autocomplete: "off",
    oninput: () => rows.replaceChildren(...[list(input.value.trim().toLowerCase())].flat(2)),
  });
  return [h("label.search", {}, icon("search"), input), rows];
}

/** Ask before something is done that cannot be undone. */
export function confirm(title, text, label, onyes) {
  cover(
    h(
      "div.dialog",
      { role: "dialog", "aria-label": title },
      h("h2", {}, title),
      text && h("p", {}, text),
      h("div.buttons", {}, button(t("Cancel", "取消"), close), button(label, () => { close(); onyes(); }, "strong")),
    ),
  );
}

/** Choose one of `[label, act]`; the one at `chosen` is marked. */
export function choose(title, options, chosen = -1) {
  const rows = options.map(([label, act], index) =>
    row({ title: label, trail: index === chosen ? icon("check") : null, ontap: () => { close(); act(); } }),
  );
  cover(h("div.sheet", { role: "menu", "aria-label": title }, h("h2", {}, title), rows));
}

/** Tabs at the bottom of an app: `[key, label, sign]`. */
export const tabs = (all, chosen, onchoose) =>
  h(
    "div.tabs",
    { role: "tablist" },
    all.map(([key, label, sign]) =>
      h("button", { role: "tab", "aria-selected": String(key === chosen), onclick: () => onchoose(key) }, icon(sign, key === chosen), h("span", {}, label)),
    ),
  );
