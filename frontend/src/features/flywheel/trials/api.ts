/** The gate's attempts of a cycle over HTTP: those at a task, two side by side, and where their pictures are. */
import { queryOptions } from "@tanstack/react-query";

import type { SeedTrials, TaskChange } from "@/generated/api";
import { request } from "@/shared/api/http";

export type Task = Pick<TaskChange, "suite" | "name" | "level">;
export type Side = "active" | "candidate";

const searchOf = ({ suite, name, level }: Task) => new URLSearchParams({ suite, name, level: String(level) });

/** What both revisions did at a task, seed by seed. */
export const trialsQuery = (cycle: string, task: Task) =>
  queryOptions({
    queryKey: ["wheels", "trials", cycle, task.suite, task.name, task.level],
    queryFn: () => request("GET", `/turns/${cycle}/trials?${searchOf(task).toString()}`),
  });

export const trialComparisonQuery = (cycle: string, active: string, candidate: string) => {
  const search = new URLSearchParams({ active, candidate });
  return queryOptions({
    queryKey: ["wheels", "beside", cycle, active, candidate],
    queryFn: () => request("GET", `/turns/${cycle}/trials/beside?${search.toString()}`),
  });
};

/** Where an attempt's pictures are; the bytes never change. */
export const trialPictures = (cycle: string, side: Side, place: string) => (sha256: string) =>
  `/api/turns/${cycle}/trials/${side}/${place}/pictures/${sha256}`;

/** The page that shows the attempts of a seed side by side; none where one of the two did not try it. */
export const trialComparisonPath = (cycle: string, { active, candidate }: SeedTrials): string | null =>
  active && candidate && `/flywheel/${cycle}/beside?active=${active.place}&candidate=${candidate.place}`;
