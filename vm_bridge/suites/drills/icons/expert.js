// Opens the program that is asked for.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.opened !== null) return done(hands);
  return hands.click(name, `This icon is called “${name}”; I open it.`, `这个图标是“${name}”，打开它。`);
}
