// What is confirmed first is the code.
function verify(state, task) {
  const success = state.confirmed === String(task.slots.code), failure = state.confirmed !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the code is right" : failure ? "the code is wrong" : "nothing yet" };
}
