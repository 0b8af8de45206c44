// The last registration that was sent has what was asked for.
function verify(state, task) {
  const { who, plan, country, news, user, password } = task.slots;
  const wanted = { name: who.name, mail: who.mail, plan };
  if (task.level > 1) Object.assign(wanted, { phone: who.phone, country, news: task.picks.news === 0 });
  if (task.level > 2) Object.assign(wanted, { user: user[state.taken.includes(user[0]) ? 1 : 0], password });
  const names = Object.keys(wanted), sent = state.sent.at(-1);
  const right = (entry) => names.filter((name) => (typeof entry[name] === "string" ? entry[name].trim() : entry[name]) === wanted[name]).length;
  const success = sent !== undefined && right(sent) === names.length;
  const score = success ? 1 : (right(sent ?? state.form) / names.length) * 0.8;
  return { success, failure: false, score, level: task.level, done: success, reason: sent ? `${right(sent)} of ${names.length} entries are right` : "nothing was sent" };
}
