// The right words were searched for first, and the right result was opened first.
function verify(state, task) {
  const [query, result] = task.slots.names, { found, opened } = state;
  const success = found === query && opened === result, failure = (found !== null && found !== query) || (opened !== null && !success);
  return { success, failure, score: success ? 1 : found === query && opened === null ? 0.5 : 0, level: task.level, done: success || failure, reason: `searched for ${found ?? "nothing"}, opened ${opened ?? "nothing"}` };
}
