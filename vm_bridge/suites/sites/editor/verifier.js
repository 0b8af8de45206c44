// The letter is what it was, but for the word and the line that were to change.
function wishOf(state, task) {
  const [first, second] = task.slots.words, mark = ["b", "i", "u"][task.picks.style], { level } = task;
  return state.before.map((block) => {
    const wish = { kind: block.kind, text: block.text, marks: { ...block.marks } };
    const at = block.text.indexOf(first);
    if (at >= 0) {
      const word = level === 3 ? task.slots.fresh : first, rest = block.text.length - at - first.length;
      wish.text = block.text.slice(0, at) + word + block.text.slice(at + first.length);
      for (const kind of ["b", "i", "u"]) wish.marks[kind] = "0".repeat(at) + (kind === mark ? "1" : "0").repeat(word.length) + "0".repeat(rest);
    }
    if (level > 1 && block.text.includes(second)) wish.kind = level === 2 ? "h" : "li";
    return wish;
  });
}

function verify(state, task) {
  const wish = wishOf(state, task), same = (a, b) => a !== undefined && a.kind === b.kind && a.text === b.text && ["b", "i", "u"].every((kind) => a.marks[kind] === b.marks[kind]);
  const due = wish.map((_, i) => i).filter((i) => !same(state.before[i], wish[i]));
  const made = due.filter((i) => same(state.blocks[i], wish[i])).length;
  const spoilt = wish.filter((block, i) => !due.includes(i) && !same(state.blocks[i], block)).length;
  const success = made === due.length && spoilt === 0 && state.blocks.length === wish.length;
  return { success, failure: false, score: success ? 1 : Math.max(0, (made / due.length) * 0.8 - spoilt * 0.2), level: task.level, done: success, reason: `${made} of ${due.length} lines are as asked, ${spoilt} others changed` };
}
