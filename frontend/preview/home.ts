/** A made-up day: items on the home page, and a hundred live sessions. */
import type { Home, WallPage, WallSession } from "../src/generated/api";

const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const rate = (successes: number, attempts: number) => ({ successes, attempts, rate: successes / attempts, low: 0, high: 1 });

const ITEMS: Home["items"] = [
  { kind: "help", subject: "Bo Li", since: ago(3 * 60_000), episode: "e1", instruction: "Empty the bin.", message: "The bin is empty already." },
  { kind: "part", subject: "ui-tars 7", since: ago(HOUR), part: "model", problem: "no_model", detail: "ui-tars; it has qwen", down: true },
  { kind: "policy_overridden", subject: "ui-tars 6", since: ago(5 * HOUR), before: rate(11, 96), after: rate(31, 64) },
  { kind: "pool", subject: "Desktop basics", since: null, waiting: 7, done_last_day: 41 },
  { kind: "gate", subject: "ui-tars 8", since: ago(2 * HOUR), pool: "Desktop basics", passed: true },
  { kind: "reviews", subject: "", since: ago(20 * HOUR), count: 12, capped: false },
];

export function home(empty: boolean): Home {
  const hour = (number: number) => {
    const acts = empty ? 0 : Math.round(30 + 25 * Math.sin(number / 3));
    return { at: ago((23 - number) * HOUR), acts, override: acts > 0 ? rate(Math.round(acts / 5), acts) : null };
  };
  return { at: ago(0), items: empty ? [] : ITEMS, hours: Array.from({ length: 24 }, (_, number) => hour(number)) };
}

const session = (number: number): WallSession => ({
  id: `live-${number}`,
  instruction: number % 3 === 0 ? "把桌面上的“会议记录.md”移动到“归档”文件夹。" : "Rename report.txt on the desktop to final.txt and open it.",
  pool: number % 2 === 0 ? "Desktop basics" : "Browser games",
  annotator: `Annotator ${number}`,
  status: number % 17 === 0 ? "paused" : "running",
  help_requested: number < 2,
  attended: number % 11 !== 0,
  pictured: false,
  text: number % 7 === 0 ? "$ ls\nnotes.md  report.txt\n$ " : "",
  steps: number,
  override: number % 5 === 0 ? null : rate(number % 9, 40),
  created_at: ago(HOUR),
  last_step_at: number % 4 === 0 ? null : ago(number * 1_000),
});

export function wall(empty: boolean): WallPage {
  const items = empty ? [] : Array.from({ length: 100 }, (_, number) => session(number));
  return { at: ago(0), items, total: empty ? 0 : 134, waiting: empty ? 0 : 2, next: empty ? null : 2 };
}
