// Waits for what is on its way, asks again where it failed, and looks before ordering twice.
function advise(state, task) {
  const hands = handsOf(state), { town, seats } = task.slots, { waiting, failed } = state;
  const first = state.trips.filter((one) => one.town === town).sort((a, b) => (a.time < b.time ? -1 : 1))[0].id;
  if (Object.values(waiting).some(Boolean)) return hands.wait(1, "The server has not answered yet; I wait.", "服务器还没回应，等一等。");
  if (state.path[0] === "mine") {
    if (failed.mine) return hands.click("again-mine", "The list failed to load; once more.", "列表加载失败，再试一次。");
    if (state.kept.length) return state.listed?.length ? done(hands) : hands.click("refresh", "I look once more.", "再看一次。");
    return hands.click("trips", "Nothing was booked; back to the trips.", "没有订上，回到班次页。");
  }
  if (task.level === 3 && (failed.order || state.kept.length)) return hands.click("mine", "I look into my trips before I try again.", "重试之前先看我的行程。");
  if (state.kept.length) return done(hands);
  if (failed.trips) return hands.click("again-trips", "The list did not come; I try again.", "列表没加载出来，重试。");
  if (state.chosen !== first) return hands.click(`trip-${first}`, `This is the earliest trip to ${town}.`, `这是最早去${town}的班次。`);
  if (state.seats !== seats) return hands.click(state.seats < seats ? "more" : "fewer", `I need ${seats} seats.`, `需要 ${seats} 个座位。`);
  if (failed.order) return hands.click("again-order", "The order failed; I send it again.", "预订失败，重新提交。");
  return hands.click("reserve", "Trip and seats are right; I reserve.", "班次和座位都对，预订。");
}
