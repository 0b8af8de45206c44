"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, held, goal }) => {
    const won = terminal.outcome === "won";
    return {
      success: won, failure: terminal.outcome === "lost", done: terminal.isTerminal, score: won ? 1 : 0,
      points: won ? 1 : 0, level: task.level, reason: won ? "" : `no jug holds ${goal} litres; they hold ${held.join(", ")}`,
    };
  });
}
