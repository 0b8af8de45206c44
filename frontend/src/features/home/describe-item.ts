/** The urgency, the words and the link of an item. */
import type { I18n } from "@/shared/i18n/i18n";

import type { Item } from "./api";

export type Tone = "danger" | "warn" | "info";

export interface Described {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  readonly to: string;
}

type Part = Extract<Item, { kind: "part" }>["part"];
type Job = Extract<Item, { kind: "job" }>["job"];

/** The page to repair a part on. Only admins may open these; for others it is Health. */
const PART_PAGES: Partial<Record<Part, string>> = { disk: "/retention", host: "/machines", image: "/machines" };
const JOB_PAGES: Record<Job, string> = { export: "/exports", import: "/exports", probe: "/policies", judge: "/judges" };

export function describeItem(item: Item, { t, percent }: I18n, admin: boolean): Described {
  switch (item.kind) {
    case "help":
      return { tone: "danger", title: t("home.help", { name: item.subject }), detail: item.message || item.instruction, to: `/desk/${item.episode}` };
    case "more_help":
      return { tone: "danger", title: t("home.more_help", { count: item.count }), detail: "", to: "/wall" };
    case "reviews":
      return {
        tone: "info",
        title: item.capped ? t("home.reviews_many", { count: item.count }) : t("home.reviews", { count: item.count }),
        detail: "",
        to: "/review",
      };
    case "pool":
      return {
        tone: item.waiting === 0 ? "danger" : "warn",
        title: item.waiting === 0 ? t("home.pool_empty", { name: item.subject }) : t("home.pool_dry", { name: item.subject, count: item.waiting }),
        detail: t("home.pool_pace", { count: item.done_last_day }),
        to: "/pools",
      };
    case "part":
      return describePart(item, t, admin);
    case "health_unknown":
      return { tone: "danger", title: t("home.health_unknown"), detail: t("home.health_unknown.help"), to: "/health" };
    case "policy_overridden":
      return {
        tone: "warn",
        title: t("home.policy_overridden", { name: item.subject }),
        detail: t("home.policy_rates", { before: percent(item.before.rate), after: percent(item.after.rate), count: item.after.attempts }),
        to: "/policies",
      };
    case "policy_degraded":
      return { tone: "danger", title: t("home.policy_degraded", { name: item.subject }), detail: item.detail, to: "/policies" };
    case "gate":
      return {
        tone: item.passed ? "info" : "warn",
        title: t(item.passed ? "home.gate_passed" : "home.gate_shut", { name: item.subject, pool: item.pool }),
        detail: "",
        to: "/policies",
      };
    case "cycle":
      return { tone: "danger", title: t("home.cycle", { name: item.subject, number: item.number }), detail: "", to: `/flywheel/${item.cycle}` };
    case "evaluation":
      return { tone: "warn", title: t("home.evaluation", { name: item.run }), detail: item.detail, to: `/evaluations/run:${item.run}` };
    case "job":
      return { tone: "warn", title: t(`home.job.${item.job}`, { name: item.subject }), detail: item.detail, to: jobPage(item.job, admin) };
  }
}

function describePart(item: Extract<Item, { kind: "part" }>, t: I18n["t"], admin: boolean): Described {
  const name = `${t(`health.kind.${item.part}`)} ${item.subject}`.trim();
  const problem = item.problem === null ? "" : t(`health.problem.${item.problem}`);
  return {
    tone: item.down ? "danger" : "warn",
    title: item.down ? t("home.part_down", { name }) : t("home.part_warns", { name }),
    detail: [problem, item.detail].filter(Boolean).join(" "),
    to: item.part === "model" ? "/policies" : ((admin ? PART_PAGES[item.part] : undefined) ?? "/health"),
  };
}

const jobPage = (job: Job, admin: boolean) => (job === "judge" && !admin ? "/reports" : JOB_PAGES[job]);
