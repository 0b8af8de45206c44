// The first entry that is chosen counts.
function verify(state, task) {
  const success = state.chosen !== null && state.chosen.menu === task.slots.names[0] && state.chosen.entry === task.slots.names[1], failure = state.chosen !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right entry was chosen" : failure ? "another entry was chosen" : "nothing yet" };
}
