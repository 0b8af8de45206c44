/** What an export is called: by its pool and by all that narrows it. */
import { describe, expect, it } from "vitest";

import type { ExportFilters, ExportPlan } from "@/generated/api";

import { describeExport } from "./descriptions";

const i18n = { t: (key: string, values?: Record<string, string>) => [key, ...Object.values(values ?? {})].join(" "), moment: (at: string) => at };
const FILTERS = { text: "", decisions: [], review: null, undone: false } as unknown as ExportFilters;
const PLAN = { format: "canonical", variants: [] as ExportPlan["variants"] } as ExportPlan;
const said = (filters: Partial<ExportFilters>, pool = "") => describeExport(i18n as never, { pool, plan: PLAN, filters: { ...FILTERS, ...filters } });

describe("an export's name", () => {
  it("is everything only where nothing narrows it", () => {
    expect(said({})).toBe("canonical · exports.everything");
    expect(said({}, "Office")).toBe("canonical · exports.of_pool Office");
  });

  it("says every condition", () => {
    expect(said({ level: 3, reward_min: 0.5, steps_min: 2, steps_max: 9 })).toBe("canonical · exports.level 3 · exports.reward ≥ 0.5 · exports.steps ≥ 2, ≤ 9");
  });
});
