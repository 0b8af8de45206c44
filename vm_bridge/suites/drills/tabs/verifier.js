// The first tab that is opened counts.
function verify(state, task) {
  const success = state.opened && state.open === task.slots.names[0], failure = state.opened && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right tab is open" : failure ? "another tab was opened" : "nothing yet" };
}
