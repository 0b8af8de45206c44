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
    for (const [across, down] of [[element.type === "number" ? 0.2 : 0.5, 0.5], [0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]]) {
      const [x, y] = [Math.round(box.left + box.width * across), Math.round(box.top + box.height * down)];
      if (!box.width || !box.height || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const top = document.elementFromPoint(x, y);
      if (top && (top === element || element.contains(top))) return { x, y };
    }
    return null;
  }

  /** What a link's or button's words really cover: a box may be wider, and broken over two lines. */
  function line(element) {
    if (!element.firstChild || element.tagName === "BUTTON" || !element.getClientRects().length) return element;
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

  /** Bring fields to their texts, one after another; then what comes last. */
  function fill(pairs, last = submit) {
    for (const [field, wanted] of pairs) {
      if (field.value === wanted) continue;
      if (document.activeElement !== field) return click(field, `The field for “${wanted}” comes next.`);
      if (field.value && String(getSelection()) !== field.value) return press("The field holds another text.", "ctrl", "a");
      return { thought: `I type “${wanted}”.`, action: { kind: "type_text", text: wanted } };
    }
    return last();
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

  const press = (thought, ...keys) => ({ thought, action: { kind: "press_keys", keys } });

  /** Click it where it is seen; else scroll its list by a notch. */
  function reach(element, list, thought) {
    const box = list.getBoundingClientRect(), point = { x: Math.round(box.left + 12), y: Math.round(box.top + box.height / 2) };
    const direction = element.getBoundingClientRect().top < box.top ? "up" : "down";
    return click(element, thought) || { thought: "It is out of sight; I scroll.", action: { kind: "scroll", point, direction, amount: 1 } };
  }

  /** A slider goes by the arrow keys. */
  function slide(wanted, then) {
    const handle = all(".ui-slider-handle")[0], away = wanted - Number(text(document.getElementById("val")));
    if (!away) return then();
    if (document.activeElement !== handle) return click(handle, "The slider takes keys once it is clicked.");
    return press(`It is ${Math.abs(away)} away.`, away > 0 ? "right" : "left");
  }

  /** A link in one of several parts, of which one is open at a time. */
  function unfold(part, head) {
    const link = all(".alink").find((one) => text(one) === quoted[0]);
    if (!link) return click(all(".ui-tab")[1], "It is in none of the others, so it must be in the tab that is empty.");
    return click(at(link) ? link : head(link.closest(part)), at(link) ? "That link is asked for." : "The link is in another part.");
  }

  function pick() {
    const [, month, day, year] = said.match(/(\d+)\/(\d+)\/(\d+)/), field = document.getElementById("datepicker");
    if (field.value && field.value.split("/").map(Number).join() === [month, day, year].map(Number).join()) return submit();
    const title = all(".ui-datepicker-title").find((one) => at(one));
    if (!title) return click(field, "The calendar opens from its field.");
    const shown = new Date(`${text(title).replace(/\s+/g, " ").replace(" ", " 1, ")}`), away = (year - shown.getFullYear()) * 12 + (month - 1 - shown.getMonth());
    if (away) return click(all(away < 0 ? ".ui-datepicker-prev" : ".ui-datepicker-next")[0], "Another month is asked for.");
    return click(named(".ui-datepicker-calendar a", String(Number(day))), "That day is asked for.");
  }

  function guess() {
    const [higher, lower] = ["higher", "lower"].map((id) => all(`#${id}:not(.hide) span`)[0]);
    return fill([[all("#tt")[0], String(higher ? Number(text(higher)) + 1 : lower ? Number(text(lower)) - 1 : 5)]]);
  }

  function tree() {
    const item = all("#tree span").find((one) => text(one) === quoted[0]);
    for (let part = item.parentElement; part; part = part.parentElement.closest("li")) {
      const seen = part.querySelector(":scope > span");
      if (at(seen)) return click(seen, seen === item ? "That is it." : "It is in this folder.");
    }
    return null;
  }

  function time() {
    const [, hours, minutes, half] = said.match(/(\d+):(\d+)\s*([AP]M)/i), field = all("#tt")[0], two = (value) => String(value).padStart(2, "0");
    if (field.value === `${two((hours % 12) + (/P/i.test(half) ? 12 : 0))}:${minutes}`) return submit();
    const box = field.getBoundingClientRect(), hour = { x: Math.round(box.left + 12), y: Math.round(box.top + box.height / 2) };
    if (document.activeElement !== field) return { thought: "The time begins with its hours.", action: { kind: "click", ...hour } };
    return { thought: `I type ${hours}:${minutes} ${half}.`, action: { kind: "type_text", text: `${two(hours)}${minutes}${half}` } };
  }

  function search() {
    const place = ordinal(), field = inputs()[0];
    if (!all("#page-content a").length) return fill([[field, quoted[0]]], () => click(named("button", "Search"), "Now the search."));
    const found = all(`#page-content a[data-result="${place - 1}"]`)[0];
    return found ? click(found, "That is the result.") : click(named("#pagination a", String(Math.ceil(place / 3))), "It is on another page.");
  }

  function tweet() {
    const [, user, wanted] = said.match(/user (@\S+), click on the "(.*)" button/);
    const media = all(".media").find((one) => text(one.querySelector(".username")) === user);
    const within = all(".reply, .retweet, .like, ul li", media);
    const icons = { Reply: "reply", Retweet: "retweet", Like: "like" };
    const aim = within.find((one) => (icons[wanted] ? one.matches(`.${icons[wanted]}`) : text(one).startsWith(wanted)));
    const hidden = !aim.getClientRects().length;
    return reach(hidden ? media.querySelector(".more") : aim, area, hidden ? "It is in the menu." : `“${wanted}” is asked for.`);
  }

  function sign() {
    const name = document.getElementById("name"), button = click(named("button", /cancel/i.test(said) ? "Cancel" : "Agree"), "That ends it.");
    if (!quoted.length || /^Click/.test(said)) return button;
    if (!name.disabled) return fill([[name, quoted[0]]], () => button);
    return { thought: "The end of the text has to be seen.", action: { kind: "scroll", point: at(all("#text-area")[0]), direction: "down", amount: 10 } };
  }

  function complete() {
    const field = all("#tags")[0], [start, end = ""] = quoted, right = (word) => word.startsWith(start) && word.endsWith(end);
    if (right(field.value) && (end || field.value !== start)) return submit();
    const offered = all(".ui-menu-item").find((one) => right(text(one)) && at(one));
    return offered ? click(offered, "That one fits.") : fill([[field, start]], () => press("The one that fits lies below.", "down"));
  }

  const inputs = () => all("input[type=text], input[type=password], input:not([type])", area).filter((one) => at(one));
  const list = () => said.replace(/^Select /, "").replace(/ and click Submit\.$/, "").split(", ");
  const ordinal = () => Number((said.match(/(\d+)(st|nd|rd|th)/) || [0, 1])[1]);
  const number = () => Number(said.match(/-?\d+/)?.[0]);
  const place = () => all("input[type=checkbox]", area)[ordinal() - 1];
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
    "click-shades": () => {
      const shade = said.match(/shades of (\w+)/)[1];
      return click(all("span", area).find((one) => one.dataset.color === shade && one.className !== "selected"), `That is a ${shade}.`) || submit();
    },
    "click-widget": () => click(all(`[data-type="${quoted[0]}"]`, area)[0], `A ${quoted[0]} is asked for.`),
    "find-greatest": () => {
      const [best] = all(".card").sort((a, b) => Number(text(b)) - Number(text(a)));
      return best.classList.contains("hidden") ? click(best, "That card is the greatest.") : submit();
    },
    "form-sequence": () =>
      slide(number(), () => (place().checked ? submit() : click(place(), "The boxes are counted from the left."))),
    "form-sequence-2": () => {
      const [radio, field] = [...said.matchAll(/(\d)(?:st|nd|rd|th)/g)].map((found) => Number(found[1]) - 1);
      const button = all("input[type=radio]", area)[radio];
      return button.checked ? fill([[all("input[type=text]", area)[field], quoted[0]]]) : click(button, "This radio button is asked for.");
    },
    "use-slider": () => slide(number(), submit),
    "generate-number": () => {
      const shown = text(document.getElementById("display-number")), value = Number(shown), bound = number();
      const right = /less/.test(said) ? value < bound : /greater/.test(said) ? value > bound : (value % 2 === 1) === /odd/.test(said);
      return click(named("button", shown !== "-" && right ? "Submit" : "Generate"), `It shows ${shown}.`);
    },
    "guess-number": guess,
    "navigate-tree": tree,
    "odd-or-even": () => {
      const wanted = all(".row").map((row) => row.querySelector(Number(text(row.querySelector(".display-number"))) % 2 ? ".odd" : ".even"));
      return click(wanted.find((one) => !one.classList.contains("selected")), "That is what this number is.") || submit();
    },
    "phone-book": () =>
      text(all("#contact .name")[0]) === said.match(/Find (.*) in the contact/)[1]
        ? click(all(`#contact a.${said.match(/their (\w+)/)[1]}`)[0], "This is asked for.")
        : click(named("#pagination a", ">"), "It is somebody else; I turn the page."),
    "enter-time": time,
    "identify-shape": () => {
      const shape = all("#area_svg *")[0], kinds = { rect: "rectangle", circle: "circle", polygon: "triangle", path: "triangle" };
      const kind = kinds[shape.tagName] || (/\d/.test(text(shape)) ? "digit" : "letter");
      return click(all(`[data-type="${kind}"]`)[0], `It is a ${kind}.`);
    },
    "read-table-2": () =>
      fill(["1", "2"].map((which) => {
        const label = text(document.getElementById(`ll${which}`)).replace(/:$/, "");
        return [document.getElementById(`tt${which}`), text(all("tr", area).find((row) => text(row.cells[0]) === label).cells[1])];
      })),
    "click-checkboxes-large": () => tick(list()),
    "click-collapsible-nodelay": () =>
      all(".ui-accordion-content", area).some((part) => part.offsetHeight) ? submit() : click(all("h3", area)[0], "The section is closed."),
    "circle-center": () => (all("#blue-circle").length ? submit() : click(all("svg circle")[0], "Its middle.")),
    "scroll-text": () => fill([[all("#answer-input")[0], all("#text-area")[0].value.trim().split(/\s+/).pop().replace(/\W/g, "")]]),
    "highlight-text-2": () => {
      const part = all("p", area)[ordinal() - 1], bare = (words) => words.replace(/\s/g, "");
      if (bare(String(getSelection())) === bare(text(part))) return submit();
      return { thought: "Three clicks mark a paragraph.", action: { kind: "triple_click", ...at(part) } };
    },
    "ascending-numbers": () => click(named("svg text", "1") || all("svg rect")[0], "This is the next one."),
    "search-engine": search,
    "multi-orderings": () => {
      const values = Object.fromEntries(all("#query b").map((one, which) => [["Genre", "Director", "Year"][which], text(one)]));
      return fill(all("tr", area).map((row) => [row.querySelector("input"), values[text(row.cells[0])]]), () => click(all(".final")[0], "All is filled in."));
    },
    "text-transform": () => fill([[inputs()[0], text(document.getElementById("captcha"))]]),
    "login-user-popup": () =>
      click(all("#popup-cancel")[0], "I stay here.") ||
      fill(all("#username, #password").map((field, which) => [field, quoted[which]]), () => click(all("#subbtn")[0], "Everything is as asked.")),
    "social-media": tweet,
    "sign-agreement": sign,
    "grid-coordinate": () => click(document.getElementById(said.match(/\(.*\)/)[0]), "That is the point."),
    ...Object.fromEntries(["", "-easy", "-medium", "-hard"].map((which) => [
      `click-tab-2${which}`, () => unfold(".ui-tabs-panel", (part) => all(`#area li a[href="#${part.id}"]`)[0])])),
    ...Object.fromEntries(["", "-nodelay"].map((which) => [
      `click-collapsible-2${which}`, () => unfold(".ui-accordion-content", (part) => part.previousElementSibling)])),
    ...Object.fromEntries(["", "-nodelay"].map((which) => [`use-autocomplete${which}`, complete])),
    ...Object.fromEntries(["", "-easy", "-medium", "-nodelay"].map((which) => [`choose-date${which}`, pick])),
  }[name];
  return way ? way() : null;
}
