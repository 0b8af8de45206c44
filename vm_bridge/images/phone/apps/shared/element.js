/** Makes elements: `h("button.row", {onclick}, "text", child)`. */
export function h(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child != null && child !== false));
  return element;
}

const PATHS = {
  add: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  bell: "M6 17h12l-1.5-2v-4a4.5 4.5 0 0 0-9 0v4zM10.5 20h3",
  bin: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 10.5v6M13.5 10.5v6",
  box: "M4 8l8-4 8 4v8.5l-8 4-8-4zM4 8l8 4 8-4M12 12v8.5",
  cart: "M3 4h2.5l2.3 11h9.4L19.5 7.5H6.4M9 19.2h.01M16.5 19.2h.01",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  edit: "M4.5 19.5l1-4L15.8 5.2l3 3L8.5 18.5z",
  heart: "M12 19.5S4.5 15 4.5 9.6A3.9 3.9 0 0 1 12 8a3.9 3.9 0 0 1 7.5 1.6c0 5.4-7.5 9.9-7.5 9.9z",
  mail: "M4 6.5h16v11H4zM4.5 7.5l7.5 6 7.5-6",
  message: "M4.5 5.5h15v10.5H10l-4 3.5V16H4.5z",
  minus: "M5 12h14",
  moon: "M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z",
  more: "M12 5.8h.01M12 12h.01M12 18.2h.01",
  next: "M9 5l7 7-7 7",
  person: "M12 11.5a3.7 3.7 0 1 0 0-7.4 3.7 3.7 0 0 0 0 7.4zM4.5 20c.8-4 3.7-5.5 7.5-5.5s6.7 1.5 7.5 5.5",
  phone: "M7 4h3l1.3 4-2 1.5a10 10 0 0 0 5.2 5.2l1.5-2 4 1.3v3a2 2 0 0 1-2 2A15 15 0 0 1 5 6a2 2 0 0 1 2-2z",
  pin: "M9 4h6l-.8 6.5 3.3 3H6.5l3.3-3zM12 13.5V20",
  plane: "M12 3.5c1 0 1.5 1 1.5 2.2V9.5L20.5 14v2l-7-2.2v3.7l2 1.5v1.5L12 19.5l-3.5 1V19l2-1.5v-3.7L3.5 16v-2l7-4.5V5.7c0-1.2.5-2.2 1.5-2.2z",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.3 15.3L20 20",
  send: "M4 12l16-7.5-5 15.5-3.5-6z",
  sound: "M4.5 9.5h3l4.5-4v13l-4.5-4h-3zM15.5 9a4.5 4.5 0 0 1 0 6",
  star: "M12 4l2.4 5 5.6.7-4.1 3.8 1.1 5.5-5-2.8-5 2.8 1.1-5.5L4 9.7 9.6 9z",
  stopwatch: "M12 20.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15zM12 9v4.2M9.5 2.8h5M12 2.8v2.7",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  text: "M5 18l4.5-12L14 18M6.6 14h5.8M15.5 18l2.5-6.5 2.5 6.5M16.3 16h3.4",
  timer: "M7 3.5h10M7 20.5h10M8 3.5v3.7l4 4.8 4-4.8V3.5M8 20.5v-3.7l4-4.8 4 4.8v3.7",
  wifi: "M3.5 9.5a12.5 12.5 0 0 1 17 0M6.5 13a8 8 0 0 1 11 0M9.5 16.3a3.7 3.7 0 0 1 5 0M12 19.3h.01",
  bluetooth: "M7 7.5l10 9-5 4.5V3l5 4.5-10 9",
  globe: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4 12h16M12 4c3 2.5 3 13.5 0 16M12 4c-3 2.5-3 13.5 0 16",
};

/** A drawn sign, one of the above; filled where `full`. */
export function icon(name, full = false) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", full ? "icon full" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
