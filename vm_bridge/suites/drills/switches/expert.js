// Turns the one that is asked for on, by its name.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.turned !== null) return done(hands);
  return hands.click(name, `“${name}” is off; I turn it on.`, `“${name}”是关着的，打开它。`);
}
