/** What the dialog asks for, and the request that it sends. */
import type { BenchmarkChoices, BenchmarkRunIn } from "@/generated/api";
import { sizeOf } from "@/shared/ui/sizes";

export const POOL = "pool:";
export const FILE = "file:";

export interface RunRequest {
  /** A suite, `pool:` and a pool, or `file:`. */
  readonly benchmark: string;
  readonly fileName: string;
  readonly file: string;
  readonly image: string;
  readonly levels: readonly string[];
  /** Of a suite's screen, as `640x480`; empty: each task's own. */
  readonly size: string;
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

/** The newest revision of a model; empty: there is none. */
export const firstRevision = ({ revisions }: BenchmarkChoices): string => String(revisions.find(({ scripted }) => !scripted)?.id ?? "");

export const firstRequest = (choices: BenchmarkChoices): RunRequest => ({
  benchmark: choices.suites[0]?.name ?? (choices.pools[0] === undefined ? FILE : POOL + choices.pools[0]),
  fileName: "",
  file: "",
  image: "",
  levels: ["1"],
  size: "",
  tasks: [],
  revision: firstRevision(choices),
  checkpoint: "",
  checkpointRevision: "",
  harness: "",
  seeds: 1,
  firstSeed: 0,
  parallel: 2,
  steps: "",
  temperature: "",
});

type Scripts = {
  /** Whether some task has one, as far as that is known. */
  readonly some: boolean;
  /** How many of the chosen tasks have one; null where nothing is known of single tasks. */
  readonly count: { readonly scripted: number; readonly tasks: number } | null;
};

/** Which of the chosen tasks have a script: only those can be attempted by scripts. */
export function scriptsOf({ benchmark, tasks }: Pick<RunRequest, "benchmark" | "tasks">, { suites, scripted_pools: pools }: BenchmarkChoices): Scripts {
  const suite = suites.find(({ name }) => name === benchmark);
  if (suite) {
    const names = suite.scripted;
    const scripted = tasks.length === 0 ? names.length : tasks.filter((name) => names.includes(name)).length;
    return { some: scripted > 0, count: { scripted, tasks: tasks.length || suite.tasks } };
  }
  return { some: benchmark === FILE || pools.includes(benchmark.slice(POOL.length)), count: null };
}

/** The request; null while the tasks are missing, or who attempts them. */
export function runOf(request: RunRequest, choices: BenchmarkChoices): BenchmarkRunIn | null {
  if (request.benchmark === FILE && request.file === "") return null;
  if (request.revision === "" && !scriptsOf(request, choices).some) return null;
  return {
    ...tasksOf(request),
    ...policyOf(request, choices),
    seeds: request.seeds,
    first_seed: request.firstSeed,
    parallel: request.parallel,
    max_steps: request.steps === "" ? null : request.steps,
  };
}

function tasksOf({ benchmark, fileName, file, image, levels, size, tasks }: RunRequest) {
  if (benchmark === FILE) return { benchmark: FILE + fileName, file, image };
  return { benchmark, tasks: [...tasks], levels: levels.length === 0 ? [1] : levels.map(Number), size: sizeOf(size) };
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
