// The first row that is selected counts.
function verify(state, task) {
  const success = state.selected === task.slots.names[0], failure = state.selected !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right row is selected" : failure ? "another row was selected" : "nothing yet" };
}
