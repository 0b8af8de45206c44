"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, score }) => {
    const won = terminal.outcome === "won";
    return {
      success: won, failure: terminal.outcome === "lost", done: terminal.isTerminal, score: won ? 1 : score * 0.3,
      points: score, level: task.level, reason: won ? "" : "the die is not on the goal with its colour on top",
    };
  });
}
