// The first label that is taken away counts.
function verify(state, task) {
  const success = state.removed === task.slots.names[0], failure = state.removed !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right one is gone" : failure ? "another one was removed" : "nothing yet" };
}
