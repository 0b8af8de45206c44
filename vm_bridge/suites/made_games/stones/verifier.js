"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, score, heaps }) => {
    const won = terminal.outcome === "won", left = heaps.reduce((sum, heap) => sum + heap, 0);
    return {
      success: won, failure: terminal.outcome === "lost", done: terminal.isTerminal, score: won ? 1 : 0,
      points: score, level: task.level,
      reason: won ? "" : left ? `${left} stones are left` : "the machine took the last stone",
    };
  });
}
