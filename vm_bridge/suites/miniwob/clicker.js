// A scripted expert for the simple clicking and typing tasks: reads the page, gives the next act, changes nothing.
// `advise(name)` gives {thought, action}; null where it knows no way on.
function advise(name) {
  const said = document.getElementById("query").textContent.replace(/\s+/g, " ").trim();
  const quoted = [...said.matchAll(/"([^"]*)"/g)].map((found) => found[1]);
  const area = document.getElementById("area");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const text = (element) => element.textContent.trim();
  const named = (selector, wanted) => all(selector).find((element) => text(element) === wanted && at(element));
  const touched = (element) => element.dataset.tampered !== undefined;

  /** A point of an element that is in the window with nothing over it: its middle, or else one beside it. */
  function at(element) {
    const box = (element.tagName === "INPUT" || element.children.length ? element : line(element)).getBoundingClientRect();
    for (const [across, down] of [[0.5, 0.5], [0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]]) {
      const [x, y] = [Math.round(box.left + box.width * across), Math.round(box.top + box.height * down)];
      if (!box.width || !box.height || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const top = document.elementFromPoint(x, y);
      if (top && (top === element || element.contains(top))) return { x, y };
    }
    return null;
  }

  /** What a link's or button's words really cover: a box may be wider, and broken over two lines. */
  function line(element) {
    if (!element.firstChild || element.tagName === "BUTTON") return element;
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getClientRects().length === 1 ? range : { getBoundingClientRect: () => element.getClientRects()[0] };
  }

  function click(element, thought) {
    const point = element && at(element);
    return point ? { thought, action: { kind: "click", ...point } } : null;
  }

  function submit() {
    return click(all("button, #subbtn").find((one) => /submit|login/i.test(text(one)) && at(one)), "Everything is as asked; I submit it.");
  }

  /** Bring fields to their texts, one after another. */
  function fill(pairs) {
    for (const [field, wanted] of pairs) {
      if (field.value === wanted) continue;
      if (document.activeElement !== field) return click(field, `The field for “${wanted}” comes next.`);
      if (field.value) return { thought: "The field holds another text.", action: { kind: "press_keys", keys: ["ctrl", "a"] } };
      return { thought: `I type “${wanted}”.`, action: { kind: "type_text", text: wanted } };
    }
    return submit();
  }

  /** Tick those that are wanted, and no others. */
  function tick(wanted) {
    for (const label of all("label", area)) {
      const box = label.querySelector("input") || document.getElementById(label.htmlFor);
      if (!box || box.checked === wanted.includes(text(label)) || (box.type === "radio" && box.checked)) continue;
      return click(at(box) ? box : label, `“${text(label)}” is to be changed.`);
    }
    return submit();
  }

  const inputs = () => all("input[type=text], input[type=password], input:not([type])", area).filter((one) => at(one));
  const list = () => said.replace(/^Select /, "").replace(/ and click Submit\.$/, "").split(", ");
  const ordinal = () => Number((said.match(/(\d+)(st|nd|rd|th)/) || [0, 1])[1]);
  const one = () => click(named("button", "ONE"), "Button ONE is asked for.");
  const way = {
    "click-test": () => click(all("#subbtn")[0], "There is one button."),
    "click-test-2": one,
    "click-test-transfer": one,
    "click-button": () => click(named("button", quoted[0]), `The button “${quoted[0]}” is asked for.`),
    "unicode-test": () => click(named("button", quoted[0]), `The button “${quoted[0]}” is asked for.`),
    "click-button-sequence": () =>
      touched(named("button", "ONE") || area) ? click(named("button", "TWO"), "ONE is done; TWO is next.") : one(),
    "click-link": () => click(named(".alink", quoted[0]), `The link “${quoted[0]}” is asked for.`),
    "click-dialog": () => click(all(".ui-dialog-titlebar-close")[0], "The cross closes the dialog."),
    "click-dialog-2": () =>
      click(quoted[0] === "x" ? all(".ui-dialog-titlebar-close")[0] : named(".ui-dialog button", quoted[0]), `“${quoted[0]}” is asked for.`),
    "click-tab": () => click(named("a", said.match(/Tab #\d+/)[0]), "That tab is asked for."),
    "click-color": () => {
      const named = said.match(/the (\S+) colored/);
      const colour = named ? named[1] : document.getElementById("query-color").style.backgroundColor;
      return click(all(`#area [data-color="${colour}"]`)[0], "That is the box of this colour.");
    },
    "click-option": () => tick(list()),
    "click-checkboxes": () => tick(list()),
    "click-checkboxes-transfer": () => tick(list()),
    "click-collapsible": () =>
      all(".ui-accordion-content", area).some((part) => part.offsetHeight) ? submit() : click(all("h3", area)[0], "The section is closed."),
    "focus-text": () => click(inputs()[0], "There is one field."),
    "focus-text-2": () => click(all("input[type=text]", area)[ordinal() - 1], "The fields are counted from the top."),
    "enter-text": () => fill([[inputs()[0], quoted[0]]]),
    "enter-text-dynamic": () => fill([[inputs()[0], quoted[0]]]),
    "enter-text-2": () => fill([[inputs()[0], /upper/.test(said) ? quoted[0].toUpperCase() : quoted[0].toLowerCase()]]),
    "enter-password": () => fill(inputs().map((field) => [field, quoted[0]])),
    "login-user": () => fill(all("#username, #password").map((field, place) => [field, quoted[place]])),
    "find-word": () => fill([[inputs()[0], text(all("p", area)[0]).split(/\s+/)[ordinal() - 1].replace(/[.,]$/, "")]]),
    "read-table": () => {
      const row = all("tr", area).find((each) => text(each.cells[0]) === said.match(/value of (.*) into/)[1]);
      return fill([[inputs()[0], text(row.cells[1])]]);
    },
    "simple-arithmetic": () => {
      const [left, sign, right] = text(document.getElementById("math-problem")).split(" ");
      const [a, b] = [Number(left), Number(right)];
      return fill([[inputs()[0], String(sign === "+" ? a + b : sign === "-" ? a - b : a * b)]]);
    },
    "simple-algebra": () => {
      const [left, sign, right, , sum] = text(document.getElementById("math-problem")).split(" ");
      const [first, total] = [left === "x", Number(sum)];
      const known = Number(first ? right : left);
      return fill([[inputs()[0], String(sign === "+" ? total - known : first ? total + known : known - total)]]);
    },
  }[name];
  return way ? way() : null;
}
