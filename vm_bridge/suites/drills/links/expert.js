// Follows the link that is asked for.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.followed !== null) return done(hands);
  return hands.click(name, `The link “${name}” stands in the text; I follow it.`, `文中有“${name}”链接，点开它。`);
}
