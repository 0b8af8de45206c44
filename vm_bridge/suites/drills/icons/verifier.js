// The first program that is opened counts.
function verify(state, task) {
  const success = state.opened === task.slots.names[0], failure = state.opened !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right program is open" : failure ? "another program was opened" : "nothing yet" };
}
