"use strict";
// What pages, verifiers and experts of made games share. A game's own `rules` follow: {start, actions, step}.

const replay = (() => {
  const MOST_MOVES = 1000;

  // The same numbers as the pages' seeded generator gives.
  function random(task, name) {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (const letter of `${task.seed}/${task.level}/${name}`) {
      a = Math.imul(a ^ letter.codePointAt(0), 2654435761);
      b = Math.imul(b ^ letter.codePointAt(0), 1597334677);
    }
    let seed = (Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)) >>> 0;
    const float = () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
    const int = (least, most) => least + Math.floor(float() * (most - least + 1));
    const pick = (list) => list[int(0, list.length - 1)];
    const shuffle = (list) => {
      const copy = list.slice();
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(0, i);
        [copy[i], copy[j]] = [copy[j], copy[i]];
      }
      return copy;
    };
    return { float, int, pick, shuffle };
  }

  // JSON with sorted keys: equal states have equal texts.
  function canonical(value) {
    if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }

  const start = (task) => rules.start(task, (name) => random(task, name));

  // The state after these moves; null where one of them is not legal.
  function derive(task, history) {
    if (!Array.isArray(history) || history.length > MOST_MOVES) return null;
    let state = start(task);
    for (const action of history) {
      if (typeof action !== "string" || !rules.actions(state).includes(action)) return null;
      state = rules.step(state, action);
    }
    return state;
  }

  return { random, canonical, start, derive };
})();

// For verifiers: has `judge` look at the state that follows from the moves, never at what the page says it is.
function judged(state, task, judge) {
  const derived = replay.derive(task, state && state.history);
  if (derived === null || replay.canonical(derived) !== replay.canonical(state.game)) {
    const reason = "the state does not follow from the moves";
    return { success: false, failure: true, done: true, score: 0, points: 0, level: task.level, reason };
  }
  return judge(derived);
}

// For experts: the act on the page that makes a move.
function acted(state, choice) {
  const action = choice && state.controls[choice.action];
  return action ? { thought: choice.thought, action } : null;
}
