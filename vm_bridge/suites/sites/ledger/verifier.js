// The table is what it was, but for the cells that were to change.
function verify(state, task) {
  const { who, city, amount, limit } = task.slots, status = ["paid", "shipped", "cancelled"][task.picks.status];
  const wanted = state.before.map((row) => ({ ...row }));
  if (task.level === 1) for (const row of wanted) if (row.customer === who) row.status = status;
  if (task.level === 2) wanted.filter((row) => row.city === city).sort((a, b) => b.amount - a.amount)[0].amount = amount;
  if (task.level === 3) for (const row of wanted) if (row.city === city && row.status === "open" && row.amount > limit) row.status = status;
  const same = (a, b) => a.status === b.status && a.amount === b.amount;
  const due = wanted.filter((row, i) => !same(row, state.before[i]));
  const now = (number) => state.rows.find((row) => row.number === number);
  const made = due.filter((row) => same(row, now(row.number))).length;
  const spoilt = wanted.filter((row, i) => same(row, state.before[i]) && !same(row, now(row.number))).length;
  const success = made === due.length && spoilt === 0 && state.edit === null;
  const score = success ? 1 : Math.max(0, (made / due.length) * 0.9 - spoilt * 0.2);
  return { success, failure: false, score, level: task.level, done: success, reason: `${made} of ${due.length} changes made, ${spoilt} other rows changed` };
}
