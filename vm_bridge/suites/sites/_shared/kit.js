// What every site of the suite is made with: elements, redrawing, routes, words in two languages, and the state interface.
"use strict";

const Kit = (() => {
  let site, task, model, words, drawn = [], pending = false;

  const SVG = new Set(["svg", "path", "circle", "rect", "line", "polyline", "text", "g", "polygon", "ellipse"]);

  function listen(e) {
    const deed = e.currentTarget.deeds?.[e.type];
    if (deed) {
      deed(e);
      draw();
    }
  }

  function hear(node, deeds) {
    node.heard ??= new Set();
    for (const type of Object.keys(deeds)) {
      if (node.heard.has(type)) continue;
      node.heard.add(type);
      node.addEventListener(type, listen);
    }
    node.deeds = deeds;
  }

  /** An element: h("button.primary", {at: "send", on: {click}}, "Send"). `at` names it for experts and tests. */
  function h(spec, ...rest) {
    const [tag, ...classes] = spec.split(".");
    const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    if (classes.length) node.setAttribute("class", classes.join(" "));
    const props = rest[0] && rest[0].constructor === Object ? rest.shift() : {};
    for (const child of rest.flat(4)) {
      if (child !== null && child !== undefined && child !== false) node.append(child instanceof Node ? child : String(child));
    }
    for (const [name, value] of Object.entries(props)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") hear(node, value);
      else if (name === "at") node.setAttribute("data-at", value);
      else if (name === "value" || name === "checked") node[name] = value;
      else if (name === "class") node.classList.add(...value.split(" ").filter(Boolean));
      else node.setAttribute(name, value === true ? "" : value);
    }
    if (tag === "button" && !props.type) node.setAttribute("type", "button");
    return node;
  }

  /** Make `old` like `fresh` without losing focus, caret or scroll. */
  function morph(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id || (old.dataset?.key ?? "") !== (fresh.dataset?.key ?? "")) {
      old.replaceWith(fresh);
      return;
    }
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    hear(old, fresh.deeds ?? {});
    if (old instanceof HTMLInputElement || old instanceof HTMLTextAreaElement) {
      if (old.type === "checkbox" || old.type === "radio") old.checked = fresh.checked;
      else if (old.value !== fresh.value) old.value = fresh.value;
    }
    if (old instanceof HTMLTextAreaElement) return;
    const wanted = [...fresh.childNodes];
    wanted.forEach((child, i) => (old.childNodes[i] ? morph(old.childNodes[i], child) : old.append(child)));
    while (old.childNodes.length > wanted.length) old.lastChild.remove();
  }

  function draw() {
    if (pending) return;
    pending = true;
    queueMicrotask(() => {
      pending = false;
      drawn = path();
      const root = document.getElementById("site");
      morph(root, h("div", { id: "site" }, site.view(model)));
      document.title = site.title?.(model) ?? t("title");
      site.drawn?.(model);
    });
  }

  function decoded(segment) {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment; // an address somebody typed
    }
  }

  /** Where the site is: #/item/7 is ["item", "7"]; a site of documents has /item/7 itself. */
  const path = () => (site.documents ? location.pathname : location.hash.replace(/^#/, "")).split("/").filter(Boolean).map(decoded);
  const href = (...segments) => (site.documents ? "/" : "#/") + segments.map(encodeURIComponent).join("/");
  const go = (...segments) => location.assign(href(...segments));

  const t = (key, ...values) => {
    const text = words[key] ?? key;
    return text.replace(/\{(\d)\}/g, (_, i) => values[i]);
  };

  function look() {
    const style = pilothouse.random("look"), root = document.documentElement;
    root.lang = task.language;
    root.style.setProperty("--radius", style.pick(["3px", "8px", "12px"]));
    root.dataset.side = style.pick(["start", "end"]);
    root.dataset.site = site.name;
  }

  /** A document that is loaded again, or the next one of a site of documents, goes on where the last one was. */
  function setup(given) {
    task = given;
    words = { ...site.words.en, ...site.words[task.language] };
    look();
    model = pilothouse.stored("model", null) ?? site.make(pilothouse.random(site.name), task);
    site.begun?.(model);
    site.arrived?.(model);
    draw();
  }

  addEventListener("pagehide", () => model && pilothouse.store("model", model));
  addEventListener("hashchange", () => {
    scrollTo(0, 0);
    site.arrived?.(model);
    draw();
  });

  const state = () => ({ ...JSON.parse(JSON.stringify(model)), path: drawn, view: Look.all() });

  /** The one call a page makes. */
  function open(definition) {
    site = definition;
    pilothouse.define({ setup, state });
  }

  const button = (at, label, click, props = {}) => h("button", { at, ...props, on: { click } }, label);

  /** A line of text the model keeps: `keep(value)` is called with each change. */
  const input = (at, value, keep, props = {}) =>
    h("input", { at, value, autocomplete: "off", spellcheck: "false", ...props, on: { input: (e) => keep(e.target.value), ...(props.on ?? {}) } });

  const field = (label, control, hint) =>
    h("label.field", {}, h("span.label", {}, label), control, hint ? h("span.hint", { role: "alert" }, hint) : null);

  const tick = (at, label, checked, keep, props = {}) =>
    h("label.tick", { at }, h("input", { type: "checkbox", checked, ...props, on: { change: (e) => keep(e.target.checked) } }), h("span", {}, label));

  /** A drop-down drawn in the page: what a native one opens lies outside the page's picture. `ui.open` holds which is open. */
  function choose(at, ui, options, value, keep, empty = "—") {
    const shown = ui.open === at;
    const close = () => (ui.open = null);
    const label = options.find(([key]) => key === value)?.[1] ?? empty;
    const keydown = (e) => e.key === "Escape" && close();
    return h("div.choose", { on: { keydown } },
      h("button.choice", { at, "aria-haspopup": "listbox", "aria-expanded": String(shown), on: { click: () => (ui.open = shown ? null : at) } }, h("span", {}, label), h("span.caret", { "aria-hidden": "true" }, "▾")),
      shown ? h("ul.options", { role: "listbox" }, options.map(([key, text]) =>
        h("li", { role: "option", "aria-selected": String(key === value) }, h("button", { at: `${at}=${key}`, on: { click: () => (close(), keep(key)) } }, text)))) : null);
  }

  const dialog = (label, ...children) =>
    h("div.veil", {}, h("section.dialog", { role: "dialog", "aria-modal": "true", "aria-label": label }, h("h2", {}, label), children));

  const note = (text, kind = "") => (text ? h("p.note", { class: kind, role: "status" }, text) : null);

  return { h, open, path, href, go, t, draw, button, input, field, tick, choose, dialog, note, model: () => model };
})();
