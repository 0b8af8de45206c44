// Running text with links in it, one of which is to be followed.
"use strict";

const { h, t } = Kit;

const LINKS = 4, SENTENCES = 6;

function make(rng, task) {
  const { names } = task.slots;
  const linked = new Set(names.slice(0, LINKS)), pieces = [];
  const words = rng.shuffle(names);
  while (words.length > 1) {
    const [before, between, after] = t(`sentence${rng.int(1, SENTENCES)}`).split("|");
    for (const [text, word] of [[before, words.pop()], [between, words.pop()]]) pieces.push({ text }, { text: word, link: linked.has(word) });
    pieces.push({ text: after });
  }
  return { pieces, large: rng.int(12, 15), followed: null };
}

const piece = (m, { text, link }) => (link ? h("a", { at: text, href: "#", on: { click: (e) => (e.preventDefault(), (m.followed ??= text)) } }, text) : text);

Kit.open({
  name: "links",
  words: {
    en: { title: "Text", sentence1: "The | and the | were found near the road. ", sentence2: "Nobody moved the | or the | that day. ", sentence3: "Beside the | there was a | of great age. ", sentence4: "Some like the | more than the |. ", sentence5: "A | may look like a | from far away. ", sentence6: "People came to see the | and the |. " },
    zh: { title: "文章", sentence1: "在路边发现了|和|。", sentence2: "那天没有人动过|或|。", sentence3: "在|旁边有一个古老的|。", sentence4: "有人喜欢|胜过|。", sentence5: "从远处看，|可能像|。", sentence6: "人们来看|和|。" },
  },
  make,
  view: (m) => h("main", {}, h("p", { style: `font-size:${m.large}px` }, m.pieces.map((one) => piece(m, one)))),
});
