// What is saved is what was before, but for the settings asked for.
function verify(state, task) {
  const { first, volume } = task.slots, { level, picks } = task;
  const wish = { ...state.before, [first.id]: !state.before[first.id] };
  const due = [first.id];
  if (level === 2) (wish.size = ["small", "large", "huge"][picks.size_]), due.push("size");
  if (level === 3) Object.assign(wish, { quiet: ["evening", "night", "weekend"][picks.quiet], volume }), due.push("quiet", "volume");
  const names = Object.keys(wish).filter((name) => name !== "advanced");
  const made = due.filter((name) => state.saved[name] === wish[name]).length;
  const spoilt = names.filter((name) => !due.includes(name) && state.saved[name] !== wish[name]).length;
  const success = made === due.length && spoilt === 0;
  return { success, failure: false, score: success ? 1 : Math.max(0, (made / due.length) * 0.8 - spoilt * 0.2), level, done: success, reason: `${made} of ${due.length} settings saved as asked, ${spoilt} others changed` };
}
