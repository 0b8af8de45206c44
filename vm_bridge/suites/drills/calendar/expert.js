// Goes to the month, and chooses the day.
function advise(state, task) {
  const hands = handsOf(state), { day, month } = task.slots;
  if (state.chosen !== null) return done(hands);
  const away = (task.picks.month - state.month + 12) % 12;
  if (task.level > 1 && away !== 0) return hands.click(away < 6 ? "on" : "back", `This is not ${month} yet; I turn the month.`, `还不是${month}，翻到别的月份。`);
  return hands.click(`day-${day}`, `Day ${day} is here; I choose it.`, `${day}日在这里，选择它。`);
}
