/** Cuts a written call into words, numbers, texts, JSON objects and marks, each with its place. */

export interface Token {
  readonly type: "word" | "number" | "text" | "object" | "mark" | "bad";
  readonly text: string;
  readonly value: unknown;
  readonly from: number;
  readonly to: number;
}

const SPACE = /\s+/y;
const WORD = /[A-Za-z_]\w*/y;
const NUMBER = /-?\d+(?:\.\d+)?/y;
const MARK = /[(),=]/y;
const DOUBLE = /"(?:[^"\\]|\\.)*"/sy;
const SINGLE = /'(?:[^'\\]|\\.)*'/sy;

/** All tokens of a text; what fits nothing is one token of type "bad" up to the end. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = match(SPACE, text, at);
    if (space !== null) {
      at += space.length;
      continue;
    }
    const token = next(text, at);
    tokens.push(token);
    at = token.to;
  }
  return tokens;
}

function next(text: string, at: number): Token {
  const make = (type: Token["type"], found: string, value: unknown): Token => ({
    type,
    text: found,
    value,
    from: at,
    to: at + found.length,
  });
  const word = match(WORD, text, at);
  if (word !== null) return make("word", word, word);
  const number = match(NUMBER, text, at);
  if (number !== null) return make("number", number, Number(number));
  const mark = match(MARK, text, at);
  if (mark !== null) return make("mark", mark, mark);
  const quoted = match(DOUBLE, text, at) ?? match(SINGLE, text, at);
  if (quoted !== null) return make("text", quoted, unescape(quoted.slice(1, -1)));
  const object = text[at] === "{" ? objectAt(text, at) : null;
  if (object !== null) return make("object", object.text, object.value);
  return make("bad", text.slice(at), null);
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** The text a quoted text means; an escape that is not known stands for its own character. */
function unescape(quoted: string): string {
  return quoted.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, letter: string | undefined) =>
    code === undefined ? (ESCAPES[letter ?? ""] ?? letter ?? "") : String.fromCharCode(parseInt(code, 16)),
  );
}

/** The shortest JSON object that begins at `at`. */
function objectAt(text: string, at: number): { text: string; value: unknown } | null {
  for (let end = text.indexOf("}", at); end >= 0; end = text.indexOf("}", end + 1)) {
    const candidate = text.slice(at, end + 1);
    try {
      return { text: candidate, value: JSON.parse(candidate) as unknown };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return null;
}
