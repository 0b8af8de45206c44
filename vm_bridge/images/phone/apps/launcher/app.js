/** The home screen: the day, the apps, the dock. Holding an app tells about it. */
import { h } from "../shared/element.js";
import { cover, now, open, part, run, t } from "../shared/phone.js";
import { button, touch } from "../shared/ui.js";

const DOCK = ["contacts", "messages", "shop", "settings"];
const { apps } = await (await fetch("/manifest.json")).json();

const nameOf = (app) => app.path.split("/")[1];
const titleOf = (app) => t(app.name, app.name_zh);

function tile(app) {
  const name = nameOf(app);
  const unread = name === "messages" ? part("messages").threads.filter((thread) => thread.unread).length : 0;
  const element = h("button.app", { "aria-label": titleOf(app) }, h("img", { src: app.icon, alt: "", draggable: "false" }), titleOf(app), unread > 0 && h("span.badge", {}, String(unread)));
  touch(element, { ontap: () => open(name), onhold: () => about(app) });
  return element;
}

function about(app) {
  cover(
    h(
      "div.dialog",
      { role: "dialog", "aria-label": titleOf(app) },
      h("h2", {}, titleOf(app)),
      h("p", {}, app.package),
      h("div.buttons", {}, button(t("Clear data", "清除数据"), () => void clear(app)), button(t("Open", "打开"), () => open(nameOf(app)), "strong")),
    ),
  );
}

async function clear(app) {
  await fetch(`/api/state/${nameOf(app)}`, { method: "DELETE" });
}

function day() {
  const options = { weekday: "long", day: "numeric", month: "long" };
  return new Intl.DateTimeFormat(t("en-GB", "zh-CN"), options).format(new Date(now()));
}

run({
  home: () => [
    h("div.today", {}, h("b", {}, now().slice(11, 16)), h("span", {}, day())),
    h("div.grid", {}, apps.filter((app) => !DOCK.includes(nameOf(app))).map(tile)),
    h("div.dock", {}, apps.filter((app) => DOCK.includes(nameOf(app))).map(tile)),
  ],
});
