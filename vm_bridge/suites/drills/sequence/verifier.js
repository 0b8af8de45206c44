// The first three that are pressed count, in their order.
function verify(state, task) {
  const asked = task.slots.names.slice(0, 3), { pressed } = state;
  const failure = pressed.some((name, i) => name !== asked[i]), success = !failure && pressed.length === asked.length;
  return { success, failure, score: failure ? 0 : pressed.length / asked.length, level: task.level, done: success || failure, reason: failure ? `“${pressed.at(-1)}” was not next` : `${pressed.length} of ${asked.length} pressed` };
}
