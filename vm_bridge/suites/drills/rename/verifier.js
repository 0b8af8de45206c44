// The first name that is saved is the new one, and of the right thing.
function verify(state, task) {
  const [from, to] = task.slots.names, { saved } = state;
  const success = saved !== null && saved.of === from && saved.as === to, failure = saved !== null && !success;
  return { success, failure, score: success ? 1 : !failure && state.editing === from ? 0.3 : 0, level: task.level, done: success || failure, reason: saved === null ? "nothing was renamed yet" : `${saved.of} is called ${saved.as}` };
}
