// The answer is what the archive says. Having read the right entries is worth something, but no success.
function verify(state, task, answer) {
  const { kind, city } = task.slots, level = task.level;
  const held = state.entries.filter((one) => one.kind === kind && one.city === city);
  const heaviest = held.reduce((a, b) => (b.weight > a.weight ? b : a));
  const truth = level === 1 ? String(held[0][["year", "weight", "shelf"][task.picks.field]]) : level === 2 ? String(held.length) : heaviest.giver;
  const given = (answer ?? "").trim().replace(/[.。]$/, "").toLowerCase();
  const plain = level === 1 && task.picks.field === 1 ? given.replace(/\s*(g|grams|克)$/, "") : given;
  const success = answer !== null && plain === truth.toLowerCase();
  const read = level === 2 ? state.path[0] === "search" : state.read.includes(heaviest.id) || state.read.includes(held[0].id);
  return { success, failure: answer !== null && !success, score: success ? 1 : read ? 0.3 : 0, level, done: answer !== null, reason: answer === null ? "no answer was given yet" : success ? "the answer is right" : "the answer is wrong" };
}
