// Opens the menu and chooses the entry.
function advise(state, task) {
  const hands = handsOf(state), [menu, entry] = task.slots.names;
  if (state.chosen !== null) return done(hands);
  if (state.open !== menu) return hands.click(menu, `I open the menu “${menu}”.`, `打开“${menu}”菜单。`);
  return hands.click(`${menu}/${entry}`, `The menu is open; I choose “${entry}”.`, `菜单已打开，选择“${entry}”。`);
}
