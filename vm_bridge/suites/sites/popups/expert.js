// Sends each window away by its refusal, then does what was asked.
function advise(state, task) {
  const hands = handsOf(state), { recipe, stars } = task.slots, one = state.recipes.find((r) => r.name === recipe);
  const top = state.shown[0];
  if (top === "cookies") {
    if (hands.there("cookies-necessary")) return hands.click("cookies-necessary", "A cookie window; only the necessary ones.", "Cookie 弹窗，只选必要的。");
    if (!state.more) return hands.click("cookies-more", "To refuse, I need more choices.", "要拒绝得看更多选项。");
    if (state.allow.measure) return hands.click("measure-box", "No measuring.", "取消统计。");
    if (state.allow.adverts) return hands.click("adverts-box", "No advertising.", "取消广告。");
    return hands.click("cookies-save", "Nothing extra is allowed; I keep that.", "没有额外允许的，保存。");
  }
  if (top === "letter") return hands.click("letter-close", "A newsletter is in the way; I close it.", "电子报弹窗挡路，关掉。");
  if (top === "club") return hands.click("club-no", "I decline the membership.", "谢绝会员。");
  const open = state.path[0] === "recipe" && Number(state.path[1]) === one.id;
  if (!open && !one.saved) return hands.click(`recipe-${one.id}`, `I open “${recipe}”.`, `打开“${recipe}”。`);
  if (task.level > 2 && one.stars !== stars) return hands.click(`star-${stars}`, `It gets ${stars} stars.`, `打 ${stars} 星。`);
  if (!one.saved) return hands.click("save", "I save the recipe.", "收藏这道菜。");
  if (state.cookies === null) return hands.wait(1, "The question about cookies is still to come.", "Cookie 的询问还没出现，等一下。");
  return done(hands);
}
