/** Works out a line such as `3+4×5`: products before sums, no evaluation of text as a program. */

const APPLY = {
  "×": (one, other) => one * other,
  "÷": (one, other) => one / other,
  "+": (one, other) => one + other,
  "−": (one, other) => one - other,
};

/** The result as it is shown: at most ten significant digits. */
export function evaluate(line) {
  const parts = line.match(/-?\d+\.?\d*|[÷×−+]/g) ?? ["0"];
  const result = Number(reduce(reduce(parts, "×÷"), "+−")[0]);
  return Number.isFinite(result) ? String(Number(result.toPrecision(10))) : "Error";
}

/** The parts with every one of these operations done, left to right. */
function reduce(parts, operators) {
  const left = [parts[0]];
  for (let index = 1; index < parts.length; index += 2) {
    const [operator, operand] = [parts[index], parts[index + 1]];
    if (operators.includes(operator)) left.push(APPLY[operator](Number(left.pop()), Number(operand)));
    else left.push(operator, operand);
  }
  return left;
}
