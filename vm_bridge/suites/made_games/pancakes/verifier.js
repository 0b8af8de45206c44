"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, score, stack }) => ({
    success: terminal.outcome === "won", failure: terminal.outcome === "lost", done: terminal.isTerminal,
    score: score / stack.length, points: score, level: task.level,
    reason: terminal.outcome === "won" ? "" : `${stack.length - score} pancakes are not in place`,
  }));
}
