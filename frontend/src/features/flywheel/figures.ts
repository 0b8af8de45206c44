/** The figures of a training: which have a name that people know, and how they become points of a chart. */
import type { Curve, TurnRow } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

/** In the order in which they are shown; a training has some of them. */
export const NAMED_FIGURES = [
  ...(["loss", "reward", "success", "entropy", "thought", "rounds", "reply_tokens", "kl_rollout", "clipped", "held"] as const),
  ...(["explained_variance", "value_loss", "varied", "judged", "age", "tokens_per_s", "attempts_per_s", "gpu_memory_gib"] as const),
] as const;
type NamedFigure = (typeof NAMED_FIGURES)[number];

export const isNamed = (name: string): name is NamedFigure => NAMED_FIGURES.some((one) => one === name);

/** What people call a figure; others keep the trainer's name. */
export const figureName = (name: string, t: I18n["t"]): string => (isNamed(name) ? t(`flywheel.curve.${name}`) : name);

/** A training's name; that of a specialist has its pool's. */
export function trainingName({ phase, domain }: Pick<Curve, "phase" | "domain">, t: I18n["t"]): string {
  const name = t(`flywheel.phase.${phase}`);
  return domain === "" ? name : t("flywheel.phase.specialist", { phase: name, pool: domain });
}

interface Point {
  readonly update: number;
  [training: string]: number | null;
}

/** One figure of several trainings, as rows by update. */
export function curvePoints(figure: string, curves: Readonly<Record<string, Curve>>): readonly Point[] {
  const rows = new Map<number, Point>();
  for (const [name, { updates, figures }] of Object.entries(curves)) {
    for (const [place, update] of updates.entries()) {
      const row = rows.get(update) ?? { update };
      row[name] = figures[figure]?.[place] ?? null;
      rows.set(update, row);
    }
  }
  return [...rows.values()].sort((one, other) => one.update - other.update);
}

export interface CycleFigure {
  readonly cycle: number;
  readonly value: number;
}

/** By phase and figure, what the trainings of several cycles came to, oldest cycle first. */
export function figuresByCycle(cycles: readonly TurnRow[]): ReadonlyMap<string, readonly CycleFigure[]> {
  const found = new Map<string, CycleFigure[]>();
  for (const { number, stages } of [...cycles].reverse()) {
    const result = stages.find(({ name }) => name === "train")?.result.figures;
    for (const [phase, figures] of Object.entries((result ?? {}) as Record<string, Record<string, number>>)) {
      for (const [name, value] of Object.entries(figures)) {
        const key = `${phase}/${name}`;
        found.set(key, [...(found.get(key) ?? []), { cycle: number, value }]);
      }
    }
  }
  return found;
}
