// The first file that is filed counts, and where.
function verify(state, task) {
  const success = state.filed !== null && state.filed.file === task.slots.names[0] && state.filed.folder === task.slots.names[1], failure = state.filed !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "it is in its folder" : failure ? "something was filed otherwise" : "nothing yet" };
}
