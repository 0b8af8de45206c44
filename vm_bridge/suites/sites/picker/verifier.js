// The message was sent with the files asked for and no others.
function wishOf(state, task) {
  const { top, sub, file } = task.slots, place = task.level === 1 ? [top] : [top, sub];
  const here = place.reduce((at, name) => at.folders.find((f) => f.name === name), state.tree);
  const best = (value) => here.files.reduce((a, b) => (value(b) > value(a) ? b : a));
  const files = task.level < 3 ? here.files.filter((f) => f.name.split(".")[0] === file) : [best((f) => f.size), best((f) => f.date)];
  return { place, names: [...new Set(files.map((f) => f.name))], keys: [...new Set(files.map((f) => [...place, f.name].join("/")))] };
}

function verify(state, task) {
  const { keys } = wishOf(state, task), last = state.sent.at(-1);
  const right = (list) => keys.filter((key) => list.includes(key)).length;
  const success = last !== undefined && right(last) === keys.length && last.length === keys.length;
  const score = success ? 1 : (right(last ?? state.attached) / keys.length) * 0.6;
  return { success, failure: false, score, level: task.level, done: success, reason: last ? `sent with ${right(last)} of ${keys.length} files asked for and ${last.length - right(last)} others` : "nothing was sent" };
}
