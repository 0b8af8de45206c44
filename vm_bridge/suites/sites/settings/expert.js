// Goes to each setting's section, changes it, and saves.
function advise(state, task) {
  const hands = handsOf(state), { first, size_, quiet, volume } = task.slots, { level, picks } = task;
  const tree = { general: ["dark", "size"], alerts: ["sound"], privacy: ["location", "advanced"], media: ["captions", "sync"], quietly: ["quiet", "volume"] };
  const section = (name) => Object.keys(tree).find((s) => tree[s].includes(name));
  const wish = [[first.id, !state.before[first.id]]];
  if (level === 2) wish.push(["size", ["small", "large", "huge"][picks.size_]]);
  if (level === 3) wish.push(["advanced", true], ["quiet", ["evening", "night", "weekend"][picks.quiet]], ["volume", volume]);
  if (state.asked) return hands.click("yes", "I want to see the advanced settings.", "需要显示高级设置。");
  for (const [name, value] of wish) {
    if (state.now[name] === value) continue;
    const part = name === "volume" ? (state.now.volume < value ? "volume-more" : "volume-less") : name;
    if (!hands.there(part)) return hands.click(`section-${section(name)}`, "What I look for is in this section.", "要找的设置在这个分类里。");
    if (name === "size") return hands.choose(name, value, size_);
    if (name === "quiet") return hands.choose(name, value, quiet);
    return hands.click(part, name === "volume" ? `The volume is ${state.now.volume}, it should be ${value}.` : "I switch this setting over.", name === "volume" ? `音量现在是 ${state.now.volume}，应为 ${value}。` : "切换这个设置。");
  }
  if (wish.some(([name, value]) => state.saved[name] !== value)) return hands.click("save", "All is set; I save.", "都设好了，保存。");
  return done(hands);
}
