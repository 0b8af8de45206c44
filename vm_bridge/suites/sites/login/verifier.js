// The account is open, with the password it should have.
function verify(state, task) {
  const { user, passwords } = task.slots, inside = state.inside === user;
  const changed = task.level < 3 || state.account.password === passwords[2];
  const success = inside && changed;
  const score = success ? 1 : task.level === 3 && changed ? 0.6 : state.form.user === user ? 0.2 : 0;
  return { success, failure: false, score, level: task.level, done: success, reason: inside ? "signed in" : `not signed in after ${state.tries.length} errors` };
}
