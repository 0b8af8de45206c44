"use strict";
// Guesses the first code that fits every answer so far; it does not look at the code.

function choose({ rows, entry, symbols, code: { length } }) {
  const fits = (guess) => rows.every((row) => {
    const said = compare(row.guess, guess);
    return said.exact === row.exact && said.elsewhere === row.elsewhere;
  });
  let left = 0, first = null;
  for (let number = 0; number < symbols ** length; number++) {
    const guess = Array.from({ length }, (_, i) => (Math.floor(number / symbols ** (length - 1 - i)) + i) % symbols);
    if (!fits(guess)) continue;
    left++;
    if (entry.every((one, i) => one === guess[i])) first ??= guess;
  }
  const colour = first ? first[entry.length] : 0;
  return {
    action: `colour ${colour}`,
    thought: {
      en: `${left} codes fit the answers; place ${entry.length + 1} of my guess is colour ${colour + 1} of the row.`,
      zh: `有 ${left} 个密码符合已有的回答；第 ${entry.length + 1} 个位置选第 ${colour + 1} 种颜色。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
