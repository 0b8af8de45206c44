// Presses the button that is asked for.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.answered !== null) return done(hands);
  return hands.click(name, `The dialog has a button “${name}”; I press it.`, `对话框里有“${name}”按钮，按下它。`);
}
