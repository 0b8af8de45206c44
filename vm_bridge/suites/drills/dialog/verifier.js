// The first answer counts.
function verify(state, task) {
  const success = state.answered === task.slots.names[0], failure = state.answered !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "answered as asked" : failure ? "answered otherwise" : "nothing yet" };
}
