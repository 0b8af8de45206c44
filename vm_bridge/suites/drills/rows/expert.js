// Selects the row that is asked for, after scrolling to it where the list is long.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.selected !== null) return done(hands);
  return hands.click(name, `“${name}” stands in this row; I select it.`, `“${name}”在这一行，选中它。`);
}
