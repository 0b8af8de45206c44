// Turns to the month, takes the day and the time, fills the form, books.
function advise(state, task) {
  const hands = handsOf(state), { service, who } = task.slots, next = state.first + 1;
  let { day, time } = task.slots;
  const month = task.level === 1 ? state.first : next;
  if (task.level === 3) {
    const free = (d) => ["13:00", "13:45", "14:30", "15:15", "16:00"].find((v) => !state.taken[`${next}-${d}`].includes(v));
    for (day = 1; ; day++) if ((new Date(Date.UTC(state.year, next, day)).getUTCDay() + 6) % 7 === task.picks.weekday && free(day)) break;
    time = free(day);
  }
  if (state.bookings.length) return done(hands);
  if (state.month !== month) return hands.click(state.month < month ? "later" : "earlier", "The appointment is in another month; I turn the page.", "预约在另一个月，翻页。");
  if (state.day !== day) return hands.click(`day-${day}`, task.level === 3 ? `The first ${task.slots.weekday} with a free afternoon is day ${day}.` : `I choose day ${day}.`, task.level === 3 ? `第一个下午有空的${task.slots.weekday}是${day}日。` : `选择${day}日。`);
  if (state.time !== time) return hands.click(`time-${time}`, `${time} is free; I take it.`, `${time} 有空，选它。`);
  if (state.service !== service) return hands.choose("service", service, service);
  if (task.level > 1 && state.who !== who) return hands.fill("who", state.who, who, { en: "the name", zh: "姓名" });
  return hands.click("book", "Day, time and service are right; I book.", "日期、时间和项目都对，预约。");
}
