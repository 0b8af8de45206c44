// Signs in, tries the other password where one is old, waits out a pause, and resets a lost one.
function advise(state, task) {
  const hands = handsOf(state), { user, passwords, pet } = task.slots, { form } = state;
  const names = { user: ["the user name", "用户名"], password: ["the password", "密码"], pet: ["the answer", "安全问题答案"], fresh: ["the new password", "新密码"], again: ["the repeated password", "重复的密码"] };
  const fill = (name, value) => (form[name] === value ? null : hands.fill(name, form[name], value, { en: names[name][0], zh: names[name][1] }));
  if (state.inside) return done(hands);
  if (hands.there("change")) return fill("fresh", passwords[2]) ?? fill("again", passwords[2]) ?? hands.click("change", "Both are the same; I change the password.", "两次一致，修改密码。");
  if (hands.there("ask")) return fill("user", user) ?? fill("pet", pet) ?? hands.click("ask", "I answer the question.", "回答安全问题。");
  const lost = task.level === 3 && state.account.password !== passwords[2];
  if (lost) return hands.click("lost", "The password is lost; I ask for a reset.", "密码丢了，申请重设。");
  if (state.pause > 0) return hands.wait(Math.min(10, state.pause + 1), `The page is locked for ${state.pause} seconds; I wait.`, `页面锁定 ${state.pause} 秒，等待。`);
  const right = task.level === 3 ? passwords[2] : state.tries.some((one) => one.password === passwords[0]) ? passwords[1] : passwords[0];
  return fill("user", user) ?? fill("password", right) ?? hands.click("enter", "User name and password are there; I sign in.", "用户名和密码已填好，登录。");
}
