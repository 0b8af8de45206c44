// A letter that is written and formatted: the text and its marks are the model's, the page only shows them.
"use strict";

const { h, t } = Kit;

const WORDS = { en: ["lantern", "kettle", "ladder", "compass", "blanket", "whistle"], zh: ["灯笼", "水壶", "梯子", "罗盘", "毯子", "口哨"] };
const FRESH = { en: ["umbrella", "hammer", "mirror", "basket"], zh: ["雨伞", "锤子", "镜子", "篮子"] };
const LINES = {
  en: ["Please bring the {0} to the boat.", "Nobody has seen the {0} since May.", "We lent a {0} to the neighbours.", "The {0} needs a little oil.", "There is a {0} behind the door.", "Ask Kira about the {0} first."],
  zh: ["请把{0}带到船上。", "五月以后没人见过{0}。", "我们把{0}借给了邻居。", "那个{0}要上点油。", "门后面有一个{0}。", "{0}的事先问柯蕊。"],
};
const MARKS = ["b", "i", "u"], KINDS = ["p", "h", "li"];

const paper = () => document.querySelector(".paper");
const empty = (n) => Object.fromEntries(MARKS.map((mark) => [mark, "0".repeat(n)]));

/** The model's place of a point of the document's selection. */
function placed(node, offset) {
  const block = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest?.("[data-block]");
  if (!block) return null;
  const before = document.createRange();
  before.setStart(block, 0);
  before.setEnd(node, offset);
  return { block: Number(block.dataset.block), at: before.toString().replace(/\u200b/g, "").length };
}

document.addEventListener("selectionchange", () => {
  const m = Kit.model(), s = getSelection();
  if (!m || !s.rangeCount || !paper()?.contains(s.anchorNode)) return;
  let [a, b] = [placed(s.anchorNode, s.anchorOffset), placed(s.focusNode, s.focusOffset)];
  if (!a || !b) return;
  if (b.block < a.block || (b.block === a.block && b.at < a.at)) [a, b] = [b, a];
  if (b.block > a.block && b.at === 0) b = { block: b.block - 1, at: m.blocks[b.block - 1].text.length }; // three clicks reach into the next line
  m.sel = { a, b };
  Kit.draw();
});

const each = (m, deed) => {
  const { a, b } = m.sel;
  for (let i = a.block; i <= b.block; i++) deed(m.blocks[i], i === a.block ? a.at : 0, i === b.block ? b.at : m.blocks[i].text.length);
};

function mark(m, kind) {
  if (!m.sel) return;
  let all = true;
  each(m, (block, from, to) => (all = all && !block.marks[kind].slice(from, to).includes("0")));
  each(m, (block, from, to) => (block.marks[kind] = block.marks[kind].slice(0, from) + (all ? "0" : "1").repeat(to - from) + block.marks[kind].slice(to)));
}

function shape(m, kind) {
  if (m.sel) each(m, (block) => (block.kind = block.kind === kind ? "p" : kind));
}

function splice(block, from, to, text) {
  block.text = block.text.slice(0, from) + text + block.text.slice(to);
  for (const kind of MARKS) {
    const row = block.marks[kind], like = row[to > from ? from : from - 1] ?? "0";
    block.marks[kind] = row.slice(0, from) + like.repeat(text.length) + row.slice(to);
  }
}

/** Put text in the place of what is selected. */
function write(m, text) {
  const { a, b } = m.sel, first = m.blocks[a.block], last = m.blocks[b.block];
  if (first !== last) {
    const tail = last.text.slice(b.at), marks = Object.fromEntries(MARKS.map((kind) => [kind, last.marks[kind].slice(b.at)]));
    splice(first, a.at, first.text.length, "");
    first.text += tail;
    for (const kind of MARKS) first.marks[kind] += marks[kind];
    m.blocks.splice(a.block + 1, b.block - a.block);
  } else splice(first, a.at, b.at, "");
  splice(first, a.at, a.at, text.replace(/\s/g, " "));
  const at = { block: a.block, at: a.at + text.length };
  m.sel = { a: at, b: { ...at } };
}

const deeds = {
  insertText: (m, e) => write(m, e.data ?? ""),
  insertParagraph: () => null, // the letter keeps its lines
  deleteContentBackward: (m) => {
    const { a, b } = m.sel;
    if (a.block === b.block && a.at === b.at && a.at > 0) a.at -= 1;
    write(m, "");
  },
  deleteContentForward: (m) => {
    const { a, b } = m.sel;
    if (a.block === b.block && a.at === b.at) b.at = Math.min(m.blocks[b.block].text.length, b.at + 1);
    write(m, "");
  },
};

document.addEventListener("beforeinput", (e) => {
  if (!paper()?.contains(e.target)) return;
  e.preventDefault();
  const m = Kit.model();
  if (m.sel) deeds[e.inputType]?.(m, e);
  Kit.draw();
});

/** A line in pieces: words that matter have a name of their own, all else is cut where the marks change. */
function pieces(m, block, i) {
  const { text, marks } = block, known = m.words.map((word) => [word, text.indexOf(word)]).filter(([, at]) => at >= 0);
  const wordAt = (n) => known.find(([word, at]) => n >= at && n < at + word.length)?.[0] ?? "";
  const key = (n) => MARKS.map((kind) => marks[kind][n]).join("") + wordAt(n);
  const out = [];
  for (let from = 0, n = 1; n <= text.length; n++) {
    if (n < text.length && key(n) === key(from)) continue;
    const word = wordAt(from), styles = MARKS.filter((kind) => marks[kind][from] === "1").map((kind) => `is-${kind}`).join(" ");
    out.push(h("span", { class: styles, at: word ? `word-${i}-${word}` : null }, text.slice(from, n)));
    from = n;
  }
  return out.length ? out : ["\u200b"];
}

const line = (m, block, i) => h(block.kind === "h" ? "h2" : "p", { "data-block": i, class: block.kind === "li" ? "item" : "" }, pieces(m, block, i));

function tool(m, at, label, deed, on) {
  return h("button.bare.tool", { at, title: t(at), "aria-label": t(at), "aria-pressed": String(on), on: { mousedown: (e) => e.preventDefault(), click: deed } }, label);
}

function tools(m) {
  const block = m.sel && m.blocks[m.sel.a.block];
  const marked = (kind) => Boolean(block && m.sel.b.at > m.sel.a.at && block.marks[kind][m.sel.a.at] === "1");
  return h("div.row.tight.tools", { role: "toolbar" }, tool(m, "b", h("b", {}, "B"), () => mark(m, "b"), marked("b")), tool(m, "i", h("i", {}, "I"), () => mark(m, "i"), marked("i")), tool(m, "u", h("u", {}, "U"), () => mark(m, "u"), marked("u")), h("span.gap"),
    KINDS.slice(1).map((kind) => tool(m, kind, kind === "h" ? "H" : "•", () => shape(m, kind), block?.kind === kind)));
}

function drawn(m) {
  const s = getSelection();
  if (!m.sel || document.activeElement !== paper()) return;
  const spot = ({ block, at }) => {
    const walk = document.createTreeWalker(paper().querySelector(`[data-block="${block}"]`), NodeFilter.SHOW_TEXT);
    let node = walk.nextNode(), left = at;
    while (node && left > node.length && walk.nextNode()) left -= node.length, (node = walk.currentNode);
    return [node, Math.min(left, node.length)];
  };
  const [[an, ao], [bn, bo]] = [spot(m.sel.a), spot(m.sel.b)];
  const same = (x, y) => x && y && x.block === y.block && x.at === y.at;
  const now = s.rangeCount && paper().contains(s.anchorNode) ? [placed(s.anchorNode, s.anchorOffset), placed(s.focusNode, s.focusOffset)] : [];
  if ((same(now[0], m.sel.a) && same(now[1], m.sel.b)) || (same(now[1], m.sel.a) && same(now[0], m.sel.b))) return; // a drag that goes on is left alone
  s.setBaseAndExtent(an, ao, bn, bo);
}

function make(rng, task) {
  const { language } = task, nouns = rng.shuffle(WORDS[language]), lines = rng.shuffle(LINES[language]).slice(0, task.size[1] < 400 ? 6 : 6);
  const blocks = lines.map((text, i) => {
    const full = text.replace("{0}", nouns[i]);
    return { kind: "p", text: full, marks: empty(full.length) };
  });
  return { blocks, before: JSON.parse(JSON.stringify(blocks)), words: [...WORDS[language], ...FRESH[language]], sel: null };
}

Kit.open({
  name: "editor",
  words: { en: { title: "Letter", b: "Bold", i: "Italic", u: "Underline", h: "Heading", li: "List item" }, zh: { title: "信件", b: "加粗", i: "斜体", u: "下划线", h: "标题", li: "列表项" } },
  make,
  drawn,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title")), h("span.room"), tools(m)),
    h("main", {}, h("div.card.paper", { contenteditable: "true", spellcheck: "false", role: "textbox", "aria-multiline": "true", "aria-label": t("title") }, m.blocks.map((block, i) => line(m, block, i))))),
});
