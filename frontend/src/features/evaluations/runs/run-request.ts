/** What the dialog asks for, and the request that it sends. */
import type { BenchmarkChoices, BenchmarkRunIn } from "@/generated/api";

export const POOL = "pool:";
export const FILE = "file:";

export interface RunRequest {
  /** A suite, `pool:` and a pool, or `file:`. */
  readonly benchmark: string;
  readonly fileName: string;
  readonly file: string;
  readonly image: string;
  readonly levels: readonly string[];
  /** Names of tasks of a suite; none: all. */
  readonly tasks: readonly string[];
  /** A registered revision's number; empty: the tasks' own scripts. */
  readonly revision: string;
  readonly checkpoint: string;
  readonly checkpointRevision: string;
  readonly harness: NonNullable<BenchmarkRunIn["harness"]> | "";
  readonly seeds: number;
  readonly firstSeed: number;
  readonly parallel: number;
  readonly steps: number | "";
  readonly temperature: number | "";
}

export const firstRequest = ({ suites, pools, revisions }: BenchmarkChoices): RunRequest => ({
  benchmark: suites[0]?.name ?? (pools[0] === undefined ? FILE : POOL + pools[0]),
  fileName: "",
  file: "",
  image: "",
  levels: ["1"],
  tasks: [],
  revision: String(revisions.find(({ scripted }) => !scripted)?.id ?? ""),
  checkpoint: "",
  checkpointRevision: "",
  harness: "",
  seeds: 1,
  firstSeed: 0,
  parallel: 2,
  steps: "",
  temperature: "",
});

/** The request; null while the tasks are missing. */
export function runOf(request: RunRequest, choices: BenchmarkChoices): BenchmarkRunIn | null {
  if (request.benchmark === FILE && request.file === "") return null;
  return {
    ...tasksOf(request),
    ...policyOf(request, choices),
    seeds: request.seeds,
    first_seed: request.firstSeed,
    parallel: request.parallel,
    max_steps: request.steps === "" ? null : request.steps,
  };
}

function tasksOf({ benchmark, fileName, file, image, levels, tasks }: RunRequest) {
  if (benchmark === FILE) return { benchmark: FILE + fileName, file, image };
  return { benchmark, tasks: [...tasks], levels: levels.length === 0 ? [1] : levels.map(Number) };
}

function policyOf({ revision, benchmark, checkpoint, checkpointRevision, temperature, harness }: RunRequest, choices: BenchmarkChoices) {
  if (revision === "") return { revision: null };
  const weights = checkpoint.trim();
  return {
    revision: Number(revision),
    checkpoint: weights,
    checkpoint_revision: weights === "" ? null : checkpointRevision.trim() || null,
    temperature: temperature === "" ? null : temperature,
    harness: choices.harness_sets.includes(benchmark) ? harness || null : null,
  };
}
