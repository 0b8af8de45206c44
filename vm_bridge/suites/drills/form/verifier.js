// What is saved is what was asked for; a field nobody named stays empty.
function verify(state, task) {
  const { names, labels } = task.slots, kept = state.saved ?? state.form;
  const wish = Object.fromEntries(labels.map((label, i) => [label, names[i] ?? ""]));
  const right = labels.filter((label) => kept[label] === wish[label] && wish[label] !== "").length;
  const success = state.saved !== null && labels.every((label) => kept[label] === wish[label]), failure = state.saved !== null && !success;
  return { success, failure, score: success ? 1 : failure ? 0 : (right / names.length) * 0.8, level: task.level, done: success || failure, reason: `${right} of ${names.length} fields are right${state.saved ? ", saved" : ""}` };
}
