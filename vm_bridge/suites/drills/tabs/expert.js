// Opens the tab that is asked for.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.opened) return done(hands);
  return hands.click(name, `The tab “${name}” is not open yet; I click it.`, `“${name}”标签还没打开，点击它。`);
}
