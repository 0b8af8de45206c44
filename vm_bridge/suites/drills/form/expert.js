// Fills in each field, and saves.
function advise(state, task) {
  const hands = handsOf(state), { names, labels } = task.slots;
  if (state.saved !== null) return done(hands);
  for (const [i, name] of names.entries()) {
    const label = labels[i];
    if (state.form[label] !== name) return hands.fill(label, state.form[label], name, { en: `the field ${label}`, zh: `${label}一栏` });
  }
  return hands.click("save", "All is filled in; I save.", "都填好了，保存。");
}
