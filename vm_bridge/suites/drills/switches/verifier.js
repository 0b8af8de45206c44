// The first switch that is turned counts.
function verify(state, task) {
  const success = state.turned === task.slots.names[0], failure = state.turned !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right one is on" : failure ? "another one was turned" : "nothing yet" };
}
