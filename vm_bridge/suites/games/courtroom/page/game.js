"use strict";

// What evidence records and witnesses speak of: how the record puts it, how a statement does, and what it leaves open.
const FACTS = [
  {
    values: { en: ["seven", "eight", "nine", "ten"], zh: ["七", "八", "九", "十"] },
    record: { en: "Hall clock: the fall stopped it at {v}.", zh: "大厅的钟：跌落时停在{v}点。" },
    said: { en: "I heard the clock fall at {v}.", zh: "我听到钟在{v}点跌落。" },
    vague: { en: "I heard the clock fall that evening.", zh: "那天晚上我听到钟跌落。" },
  },
  {
    values: { en: ["front", "back", "cellar", "side"], zh: ["前", "后", "地窖", "侧"] },
    record: { en: "Locksmith: only the {v} door was unlocked.", zh: "锁匠：只有{v}门没有锁。" },
    said: { en: "The thief came in through the {v} door.", zh: "小偷是从{v}门进来的。" },
    vague: { en: "The thief came in through a door.", zh: "小偷是从一扇门进来的。" },
  },
  {
    values: { en: ["red", "green", "grey", "brown"], zh: ["红色", "绿色", "灰色", "棕色"] },
    record: { en: "Thread on the safe: {v} wool of a coat.", zh: "保险柜上的线头：外套的{v}羊毛。" },
    said: { en: "The thief wore a {v} coat.", zh: "小偷穿着{v}的外套。" },
    vague: { en: "The thief wore a coat.", zh: "小偷穿着外套。" },
  },
  {
    values: { en: ["rain", "snow", "fog", "a clear sky"], zh: ["下雨", "下雪", "有雾", "晴朗"] },
    record: { en: "Weather report of the night: {v}.", zh: "当晚的天气记录：{v}。" },
    said: { en: "I remember the weather outside: {v}.", zh: "我记得外面的天气：{v}。" },
    vague: { en: "I remember the weather outside.", zh: "我记得外面的天气。" },
  },
  {
    values: { en: ["two", "three", "five", "six"], zh: ["两", "三", "五", "六"] },
    record: { en: "Guest book: {v} people signed in.", zh: "访客簿：有{v}人签到。" },
    said: { en: "There were {v} guests in the house.", zh: "房子里有{v}位客人。" },
    vague: { en: "There were guests in the house.", zh: "房子里有客人。" },
  },
  {
    values: { en: ["left", "right"], zh: ["左", "右"] },
    record: { en: "Doctor: he cannot move his {v} arm.", zh: "医生：他的{v}臂不能动。" },
    said: { en: "He broke the glass with his {v} arm.", zh: "他用{v}臂打碎了玻璃。" },
    vague: { en: "He broke the glass with one arm.", zh: "他用一只手臂打碎了玻璃。" },
    // The record denies what the statement claims.
    denies: true,
  },
];
const NAMES = { en: ["Ms Alder", "Mr Birch", "Ms Cedar", "Mr Dogwood", "Ms Elm", "Mr Fir"], zh: ["桤女士", "桦先生", "雪松女士", "山茱萸先生", "榆女士", "冷杉先生"] };

let cases, at, chosen, item, right, wrong, chances, won, lost, note, board, spots;

function setup(task) {
  const { witnesses, statements, evidence, vague } = task.slots, draw = pilothouse.random("case", task);
  const names = draw.shuffle([...Array(6).keys()]);
  cases = [...Array(witnesses).keys()].map((number) => {
    const facts = draw.shuffle([...FACTS.keys()]).slice(0, evidence);
    const records = facts.map((fact) => ({ fact, value: draw.int(0, FACTS[fact].values.en.length - 1) }));
    const spoken = draw.shuffle([...records]).slice(0, statements), lie = draw.int(0, statements - 1);
    const open = draw.shuffle([...spoken.keys()]).slice(0, vague);
    return {
      name: names[number], records, lie,
      said: spoken.map(({ fact, value }, place) => ({ fact, value: (place === lie) === !!FACTS[fact].denies ? value : other(draw, fact, value), open: open.includes(place) })),
    };
  });
  ({ chances } = task.slots);
  at = right = wrong = 0;
  chosen = item = null;
  won = lost = false;
  note = { en: "Select a statement.", zh: "请选择一句证言。" };
  game.title({ en: "Cross-examination", zh: "交叉询问" });
  board = game.canvas(paint);
  board.element.addEventListener("click", (event) => touch(event.clientX, event.clientY - board.top));
  lay();
  show();
}

// A value that differs from the recorded one.
function other(draw, fact, value) {
  const count = FACTS[fact].values.en.length;
  return (value + draw.int(1, count - 1)) % count;
}

function lay() {
  const { clientWidth: width, clientHeight: height } = game.stage, now = cases[at], gap = 10;
  const half = (width - 3 * gap) / 2, tall = Math.min(72, (height - 150) / Math.max(now.said.length, now.records.length) - gap);
  const column = (x, list, kind) => list.map((_, place) => ({ kind, place, x, y: 62 + place * (tall + gap), width: half, height: tall }));
  const y = height - 54;
  spots = [
    ...column(gap, now.said, "said"), ...column(2 * gap + half, now.records, "record"),
    { kind: "question", place: 0, x: gap, y, width: half, height: 44 }, { kind: "present", place: 0, x: 2 * gap + half, y, width: half, height: 44 },
  ];
}

function touch(x, y) {
  const spot = spots.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
  if (!spot || won || lost) return;
  if (spot.kind === "said") chosen = spot.place;
  else if (spot.kind === "record") item = spot.place;
  else if (spot.kind === "question") question();
  else present();
  show();
}

function question() {
  if (chosen === null) return void (note = { en: "Select a statement first.", zh: "请先选择一句证言。" });
  const said = cases[at].said[chosen];
  note = said.open ? { en: "The witness becomes more precise.", zh: "证人说得更具体了。" } : { en: "The witness has nothing to add.", zh: "证人没有补充。" };
  said.open = false;
}

function present() {
  const now = cases[at];
  if (chosen === null || item === null) return void (note = { en: "Select a statement and an item of evidence.", zh: "请选择证言和证据各一项。" });
  const said = now.said[chosen], caught = chosen === now.lie && now.records[item].fact === said.fact && !said.open;
  if (!caught) {
    wrong++;
    lost = wrong >= chances;
    note = { en: "That proves nothing.", zh: "这什么也证明不了。" };
    if (lost) game.over(false);
    return;
  }
  right++;
  won = right === cases.length;
  chosen = item = null;
  note = { en: "The lie is exposed!", zh: "谎言被揭穿了！" };
  if (won) return game.over(true);
  at++;
  lay();
}

const worded = (fact, form, value) => pilothouse.say(FACTS[fact][form]).replace("{v}", pilothouse.say(FACTS[fact].values)[value]);

function show() {
  const all = cases.length, left = chances - wrong;
  game.status(pilothouse.say({ en: `Exposed ${right} of ${all} · chances ${left}`, zh: `已揭穿 ${right} / ${all} · 剩余机会 ${left}` }));
  board.again();
}

function paint(context, width) {
  const { theme } = pilothouse, now = cases[at];
  const words = { question: { en: "Question", zh: "追问" }, present: { en: "Present", zh: "出示" } };
  game.write(context, pilothouse.say({ en: `Testimony of ${NAMES.en[now.name]}`, zh: `${NAMES.zh[now.name]}的证词` }), width * 0.26, 34, 17, theme.ink);
  game.write(context, pilothouse.say({ en: "Evidence", zh: "证据" }), width * 0.74, 34, 17, theme.ink);
  for (const { kind, place, x, y, width: wide, height } of spots) {
    const act = kind in words, picked = (kind === "said" && place === chosen) || (kind === "record" && place === item);
    context.lineWidth = picked ? 4 : 1;
    game.round(context, x, y, wide, height, 8, act ? theme.accent : theme.soft, picked ? theme.accent : theme.line);
    if (act) game.write(context, pilothouse.say(words[kind]), x + wide / 2, y + height / 2, 17, theme.onAccent);
    else if (kind === "said") lines(context, worded(now.said[place].fact, now.said[place].open ? "vague" : "said", now.said[place].value), x + wide / 2, y + height / 2, wide - 20);
    else lines(context, worded(now.records[place].fact, "record", now.records[place].value), x + wide / 2, y + height / 2, wide - 20);
  }
  game.write(context, pilothouse.say(note), width / 2, spots.at(-1).y - 22, 15, theme.ink);
}

// The cards and buttons with their words, and where each is clicked.
function describe() {
  const now = cases[at], chosenMark = pilothouse.say({ en: " [selected]", zh: "［已选］" });
  const words = { question: { en: "Button: Question", zh: "按钮：追问" }, present: { en: "Button: Present", zh: "按钮：出示" } };
  const cards = spots.map(({ kind, place, x, y, width, height }) => {
    const picked = (kind === "said" && place === chosen) || (kind === "record" && place === item);
    const text = {
      said: () => pilothouse.say({ en: "Statement: ", zh: "证言：" }) + worded(now.said[place].fact, now.said[place].open ? "vague" : "said", now.said[place].value),
      record: () => pilothouse.say({ en: "Evidence: ", zh: "证据：" }) + worded(now.records[place].fact, "record", now.records[place].value),
    }[kind] || (() => pilothouse.say(words[kind]));
    return `(${Math.round(x + width / 2)}, ${Math.round(board.top + y + height / 2)}) ${text()}${picked ? chosenMark : ""}`;
  });
  const heading = pilothouse.say({ en: `Testimony of ${NAMES.en[now.name]}`, zh: `${NAMES.zh[now.name]}的证词` });
  return game.words(heading, ...cards, pilothouse.say(note));
}

// A text in as many lines as it needs.
function lines(context, text, x, y, most) {
  context.font = '600 15px "DejaVu Sans", "Noto Sans CJK SC", sans-serif';
  const parts = [""];
  for (const word of text.match(/[\x21-\x7e]+ ?|[^\x21-\x7e]/g)) {
    if (parts.at(-1) && context.measureText((parts.at(-1) + word).trimEnd()).width > most) parts.push("");
    parts[parts.length - 1] += word;
  }
  parts.forEach((part, row) => game.write(context, part.trim(), x, y + (row - (parts.length - 1) / 2) * 19, 15, pilothouse.theme.ink));
}

pilothouse.define({
  setup,
  describe,
  state: () => ({
    right, wrong, chances, won, lost, all: cases.length, chosen, item,
    now: { lie: cases[at].lie, open: cases[at].said.map((one) => one.open), against: cases[at].records.findIndex((one) => one.fact === cases[at].said[cases[at].lie].fact) },
    spots: spots.map(({ kind, place, x, y, width, height }) => ({ kind, place, x: Math.round(x + width / 2), y: Math.round(board.top + y + height / 2) })),
  }),
});
