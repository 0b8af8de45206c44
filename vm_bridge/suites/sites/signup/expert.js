// Fills one field after the other, sends, and takes the other user name where the first is gone.
function advise(state, task) {
  const hands = handsOf(state), { who, plan, country, news, user, password } = task.slots, { form } = state;
  const wish = { name: who.name, mail: who.mail, phone: who.phone, country, plan, news: task.picks.news === 0, user: user[state.taken.includes(user[0]) && (form.user === user[1] || "user" in state.errors) ? 1 : 0], password, again: password };
  const named = { name: ["the name", "姓名"], mail: ["the e-mail address", "邮箱"], phone: ["the phone number", "电话"], user: ["the user name", "用户名"], password: ["the password", "密码"], again: ["the repeated password", "再次输入的密码"] };
  if (state.sent.length && !hands.there("send")) return done(hands);
  for (const name of state.pages[state.page]) {
    if (form[name] === wish[name]) continue;
    if (name === "country") return hands.choose("country", country, country);
    if (name === "plan") return hands.click(`plan=${plan}`, `The plan is to be ${plan}, so I choose it.`, `套餐要选“${plan}”，点选它。`);
    if (name === "news") return hands.click("news", wish.news ? "The newsletter is wanted; I tick it." : "No newsletter is wanted; I take the tick away.", wish.news ? "需要电子报，勾选它。" : "不要电子报，取消勾选。");
    return hands.fill(name, form[name], wish[name], { en: named[name][0], zh: named[name][1] });
  }
  const last = state.page + 1 === state.pages.length;
  return hands.click("send", last ? "All is filled in; I send the form." : "This page is filled in; on to the next.", last ? "都填好了，提交表单。" : "这一页填好了，进入下一页。");
}
