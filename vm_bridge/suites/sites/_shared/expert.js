// What every expert of the suite is written with: it acts on a page's named parts, and scrolls to those out of sight.
const NOTCH = 100; // CSS pixels a notch of the wheel turns at least

/** The hands of an expert that sees this state; each deed is the whole advice: a thought and an action. */
function handsOf(state) {
  const { parts, focused } = state.view;
  const advice = (en, zh, action) => ({ thought: { en, zh }, action });
  const there = (at) => at in parts;

  /** Do `deed(part)` to a part that can be seen, else bring it into sight. */
  function reach(at, deed) {
    const part = parts[at];
    if (!part) throw new Error(`the page has no part ${at}`);
    if (part.shown) return deed(part);
    const { x, y, by } = part.scroll;
    const amount = Math.max(1, Math.min(20, Math.round(Math.abs(by) / NOTCH)));
    return advice("What I need is not in sight yet, so I scroll to it.", "需要的东西还看不到，先滚动过去。", { kind: "scroll", point: { x, y }, direction: by > 0 ? "down" : "up", amount });
  }

  const click = (at, en, zh, kind = "click") => reach(at, ({ x, y }) => advice(en, zh, { kind, x, y }));
  const keys = (names, en, zh) => advice(en, zh, { kind: "press_keys", keys: names });
  const type = (text, en, zh) => advice(en, zh, { kind: "type_text", text });
  const wait = (seconds, en, zh) => advice(en, zh, { kind: "wait", seconds });
  const finish = (answer, en, zh) => advice(en, zh, { kind: "finish", answer });
  const back = (en, zh) => advice(en, zh, { kind: "navigate_back" });
  const drag = (from, to, en, zh) => advice(en, zh, { kind: "drag", start: from, end: to });

  /** Make the text of a field be `text`: go there, select what is in it, write. */
  function fill(at, value, text, name = { en: "the field", zh: "输入框" }) {
    if (focused !== at) return click(at, `I click into ${name.en}.`, `点击${name.zh}。`);
    if (value !== "" && !state.view.selected) return keys(["ctrl", "a"], `What stands in ${name.en} is wrong; I select it to write over it.`, `${name.zh}里的内容不对，全选后重写。`);
    return type(text, `I write “${text}” into ${name.en}.`, `在${name.zh}里输入“${text}”。`);
  }

  /** Pick one of a drop-down's options. */
  function choose(at, key, label) {
    if (!there(`${at}=${key}`)) return click(at, "I open the list to choose from it.", "打开列表进行选择。");
    return click(`${at}=${key}`, `I choose “${label}”.`, `选择“${label}”。`);
  }

  return { parts, focused, there, reach, click, keys, type, wait, finish, back, drag, fill, choose, advice };
}

const done = (hands) => hands.finish("", "Everything that was asked is done.", "要求的事情都做完了。");
