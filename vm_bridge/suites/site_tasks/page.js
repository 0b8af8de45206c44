// What a page shows and what can be used on it, by role and name. Reads only. Runs in a world of its own.
(() => {
  const MOST_ELEMENTS = 400, MOST_TEXT = 20000, MOST_NAME = 120;
  const USED = "a[href], button, input, textarea, select, summary, [contenteditable=''], [contenteditable=true], [draggable=true], [aria-grabbed], " +
    "[role=button], [role=link], [role=tab], [role=menuitem], [role=option], [role=switch], [role=checkbox], [role=radio], " +
    "[role=textbox], [role=searchbox], [role=combobox], [role=slider], [role=treeitem], [role=gridcell], section[aria-label], [role=region][aria-label]";
  const ROLES = { A: "link", BUTTON: "button", TEXTAREA: "textbox", SELECT: "combobox", SUMMARY: "button", SECTION: "region" };
  const INPUTS = { checkbox: "checkbox", radio: "radio", range: "slider", button: "button", submit: "button", reset: "button", image: "button", search: "searchbox", file: "file", number: "spinbutton" };
  const squeezed = (text) => (text ?? "").replace(/[\s\u200b]+/g, " ").trim();
  const cut = (text) => squeezed(text).slice(0, MOST_NAME);
  const byIds = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");

  function roleOf(node) {
    const own = node.getAttribute("role");
    if (own) return own.split(" ")[0];
    if (node.tagName === "INPUT") return INPUTS[node.type] ?? "textbox";
    if (node.isContentEditable && !(node.tagName in ROLES)) return "textbox";
    return ROLES[node.tagName] ?? (node.hasAttribute("draggable") || node.hasAttribute("aria-grabbed") ? "draggable" : "generic");
  }

  function labelOf(node) {
    return [...(node.labels ?? [])].map((label) => [...label.childNodes]
      .filter((child) => !(child.nodeType === Node.ELEMENT_NODE && (child === node || child.contains(node) || child.getAttribute("role") === "alert")))
      .map((child) => child.textContent).join(" ")).join(" ");
  }

  function nameOf(node) {
    const field = ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName);
    const pushed = node.tagName === "INPUT" && ["button", "submit", "reset"].includes(node.type);
    const found = [
      () => byIds(node.getAttribute("aria-labelledby") ?? ""), () => node.getAttribute("aria-label"), () => labelOf(node),
      () => (pushed ? node.value || node.type : ""), () => (field ? "" : node.innerText), () => node.getAttribute("alt"),
      () => node.querySelector("img[alt], svg[aria-label]")?.getAttribute("alt") ?? node.querySelector("svg[aria-label]")?.getAttribute("aria-label"),
      () => node.getAttribute("title"), () => node.getAttribute("placeholder"), () => (field ? node.name : ""),
    ];
    for (const get of found) {
      const name = cut(get());
      if (name) return name;
    }
    return "";
  }

  const headingOf = (node) => (node ? cut(node.getAttribute("aria-label") || node.querySelector("h1, h2, h3, h4, legend")?.textContent) : "");
  const flag = (node, name) => { const value = node.getAttribute(name); return value === null ? null : value === "true"; };

  const scrolls = (node) => /(auto|scroll)/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight + 1;
  function scrollOf(node, y) {
    let up = node.parentElement;
    while (up && up !== document.body && !scrolls(up)) up = up.parentElement;
    const box = up && up !== document.body ? up.getBoundingClientRect() : { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const left = Math.max(0, box.left), right = Math.min(innerWidth, box.right), top = Math.max(0, box.top), bottom = Math.min(innerHeight, box.bottom);
    return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2), by: Math.round(y - (top + bottom) / 2) };
  }

  function selectedAll(node, value) {
    if (!value) return true;
    if (typeof node.selectionStart === "number") return node.selectionEnd - node.selectionStart === node.value.length;
    return node.isContentEditable && squeezed(getSelection().toString()) === squeezed(value);
  }

  function describe(node) {
    const style = getComputedStyle(node);
    if (style.visibility !== "visible" || !node.getClientRects().length || node.closest("[inert], [aria-hidden=true]")) return null;
    const box = [...node.getClientRects()].reduce((most, one) => (one.width * one.height > most.width * most.height ? one : most));
    if (box.width < 1 || box.height < 1) return null;
    const x = Math.round(box.left + box.width / 2), y = Math.round(box.top + box.height / 2), role = roleOf(node);
    const hit = x >= 0 && y >= 0 && x < innerWidth && y < innerHeight ? document.elementFromPoint(x, y) : null;
    const shown = !!hit && (node.contains(hit) || hit.contains(node) || !!hit.closest("label")?.contains(node));
    const field = ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName), secret = node.type === "password";
    const value = secret ? null : field && !["checkbox", "radio", "file"].includes(node.type) ? node.value : node.isContentEditable ? squeezed(node.innerText) : null;
    const form = node.closest("form"), submit = form?.querySelector("button:not([type]), [type=submit]");
    return {
      role, name: nameOf(node), value, secret, x, y, width: Math.round(box.width), height: Math.round(box.height), shown,
      scroll: shown ? null : scrollOf(node, y), focused: document.activeElement === node, selected_all: selectedAll(node, value),
      checked: node.type === "checkbox" || node.type === "radio" ? node.checked : flag(node, "aria-checked"),
      pressed: flag(node, "aria-pressed"), expanded: flag(node, "aria-expanded"), selected: flag(node, "aria-selected"),
      disabled: !!node.disabled || node.getAttribute("aria-disabled") === "true",
      href: node.tagName === "A" ? node.href : "", dialog: headingOf(node.closest("dialog, [role=dialog], [role=alertdialog]")),
      in_dialog: !!node.closest("dialog, [role=dialog], [role=alertdialog]"),
      form: headingOf(form), form_method: form ? form.method : "", submit: submit ? nameOf(submit) : "",
      submits: !!form && (node === submit || node.type === "submit"),
    };
  }

  const marks = document.querySelectorAll("iframe[src*=captcha i], iframe[src*='challenges.cloudflare' i], [class*=captcha i], [id*=captcha i], [class*='cf-turnstile' i]");
  const body = document.body;
  return {
    url: location.href, title: document.title, width: innerWidth, height: innerHeight, language: document.documentElement.lang,
    text: squeezed(body ? body.innerText : "").slice(0, MOST_TEXT), captcha: marks.length > 0,
    elements: [...document.querySelectorAll(USED)].map(describe).filter(Boolean).slice(0, MOST_ELEMENTS),
  };
})()
