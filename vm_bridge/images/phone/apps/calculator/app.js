/** Calculator: four operations with precedence, percent, and what was worked out before. */
import { h } from "../shared/element.js";
import { back, change, go, mine, run, t } from "../shared/phone.js";
import { bar, body, empty, iconButton, row } from "../shared/ui.js";
import { evaluate } from "./arithmetic.js";

const KEYS = ["C", "±", "%", "÷", "7", "8", "9", "×", "4", "5", "6", "−", "1", "2", "3", "+", "0", ".", "⌫", "="];
const OPERATORS = "÷×−+";
const LONGEST = 15;
const KEPT = 20;

const kindOf = (key) => (key === "=" ? "equals" : OPERATORS.includes(key) ? "operator" : "digit");

/** The next state of the calculator after a key. `line` is what stands before the number shown. */
function press({ line, shown, history }, key) {
  if (key === "C") return { line: "", shown: "0", history };
  if (key === "⌫") return { line, shown: shown.length > 1 ? shown.slice(0, -1) : "0", history };
  if (key === "±") return { line, shown: shown.startsWith("-") ? shown.slice(1) : `-${shown}`, history };
  if (key === "%") return { line, shown: evaluate(`${shown}÷100`), history };
  if (OPERATORS.includes(key)) return { line: line.endsWith("=") ? `${shown}${key}` : `${line}${shown}${key}`, shown: "0", history };
  if (key === "=") return finished(line, shown, history);
  return typed(line, shown, history, key);
}

function finished(line, shown, history) {
  if (line === "" || line.endsWith("=")) return { line, shown, history };
  const whole = `${line}${shown}`;
  const result = evaluate(whole);
  return { line: `${whole}=`, shown: result, history: [{ line: whole, result }, ...history].slice(0, KEPT) };
}

function typed(line, shown, history, key) {
  const fresh = line.endsWith("=") || Number.isNaN(Number(shown));
  const before = fresh ? "0" : shown;
  if ((key === "." && before.includes(".")) || before.length >= LONGEST) return { line, shown, history };
  const number = before === "0" && key !== "." ? key : `${before}${key}`;
  return { line: fresh ? "" : line, shown: number, history };
}

function home() {
  const { line, shown } = mine();
  const tap = (key) => change((calculator) => Object.assign(calculator, press(calculator, key)));
  return [
    bar(t("Calculator", "计算器"), { actions: [iconButton("more", t("History", "历史记录"), () => go("history"))] }),
    h("div.display", {}, h("small", {}, line), h("output", { style: shown.length > 9 ? "font-size: 2.4rem" : "" }, shown)),
    h("div.keys", {}, KEYS.map((key) => h(`button.${kindOf(key)}`, { onclick: () => tap(key) }, key))),
  ];
}

function history() {
  const lines = mine().history.map(({ line, result }) => row({ title: `= ${result}`, subtitle: line }));
  return [bar(t("History", "历史记录"), { onback: back }), body(lines.length ? h("div.rows", {}, lines) : empty(t("Nothing yet", "暂无记录")))];
}

document.addEventListener("keydown", ({ key }) => {
  const pressed = { "*": "×", "/": "÷", "-": "−", Enter: "=", Backspace: "⌫" }[key] ?? key;
  if (KEYS.includes(pressed) && document.querySelector(".keys")) change((calculator) => Object.assign(calculator, press(calculator, pressed)));
});

run({ home, history });
