/** Which calls of the API do what each page does: those that fill it, and the main ones of its buttons. */
import { cellOf, cellSearch, viewOf } from "@/features/design/address";
import { addressOf, queryOf } from "@/features/exports/search/query";
import { fromSearch as readEpisodeFilters, toSearch as episodeQuery } from "@/features/episodes/filters";
import { fromSearch as readAuditFilters, toApiQuery as auditQuery } from "@/features/people/audit-filters";
import { fromSearch as readReportFilters, toApiQuery as reportQuery } from "@/features/reports/filters";
import { fromSearch as readReviewFilters, toSearch as reviewQuery } from "@/features/review/filters";
import { apiCall, ID, type ApiCall } from "@/shared/ui/api-calls";

export interface Address {
  /** What the path names; empty where it names nothing. */
  readonly id: string;
  readonly search: URLSearchParams;
}

const DRAFT = {
  text: "Send Ann a mail about lunch.",
  expertise: "novice",
  applications: ["Mail"],
  criteria: ["The folder Sent shows a mail to Ann"],
} as const;

type CallsOf = (address: Address) => readonly ApiCall[];

const SERVER = { revision: "r1", base_url: "http://127.0.0.1:8095/v1", model: "my-model" };

const searchCalls: CallsOf = ({ search }) => [
  apiCall("call.trajectories", "GET", `/trajectories?${search.toString()}`),
  apiCall("call.facets", "GET", `/trajectories/facets?${search.toString()}`),
  apiCall("call.keep_query", "POST", "/queries", { name: "My query", query: narrowed(search) }),
];

/** The filters of a search without those that narrow nothing. */
function narrowed(search: URLSearchParams): Partial<ReturnType<typeof queryOf>> {
  const query = queryOf(search);
  return Object.fromEntries(Object.entries(query).filter(([name]) => addressOf(query).has(name)));
}

const comparisonCalls: CallsOf = ({ search }) => {
  const [one, other] = [search.get("one"), search.get("other")];
  const revisions = new URLSearchParams({ one: search.get("left") ?? "", other: search.get("right") ?? "" });
  return [
    ...(one && other ? [apiCall("call.comparison", "GET", `/reviews/comparison?${new URLSearchParams({ one, other }).toString()}`)] : []),
    ...(one ? [apiCall("call.attempts", "GET", `/reviews/attempts?${new URLSearchParams({ of: one }).toString()}`)] : []),
    ...(one ? [] : [apiCall("call.shared_tasks", "GET", `/reviews/meetings?${search.has("left") && search.has("right") ? revisions.toString() : ""}`)]),
    apiCall("call.adjudicate", "POST", "/reviews/adjudications", { chosen: one ?? ID, reason: "It reaches the goal." }),
  ];
};

const evaluationCalls: CallsOf = ({ id, search }) => {
  const [against, run] = [search.get("against"), /^run:(.+)$/.exec(id)?.[1]];
  return [
    apiCall("evaluations.call.one", "GET", `/evaluations/${id}`),
    ...(against ? [apiCall("evaluations.call.compare", "GET", `/evaluations/${id}/against/${against}`)] : []),
    ...(run
      ? [
          apiCall("evaluations.call.progress", "GET", `/benchmarks/${run}`),
          apiCall("evaluations.call.cancel", "POST", `/benchmarks/${run}/cancel`),
          apiCall("evaluations.call.delete", "DELETE", `/benchmarks/${run}`),
        ]
      : [apiCall("evaluations.call.delete", "DELETE", `/evaluations/${id}`)]),
  ];
};

const designCalls: CallsOf = ({ search }) => {
  const pool = search.get("pool");
  switch (viewOf(search)) {
    case "graph":
      return [
        apiCall("call.design", "GET", "/design"),
        apiCall("call.placed_tasks", "GET", `/design/tasks?${cellSearch(cellOf(search)).toString()}`),
        apiCall("call.add_node", "POST", "/design/nodes", {
          name: "Spreadsheets",
          measures: { frequency: 8, benefit: 5, transfer: 6 },
          measured_by: "five users asked",
        }),
        apiCall("call.place_tasks", "POST", "/design/placements", { tasks: [1], node: 1 }),
        apiCall("call.derive_suites", "POST", "/design/suites"),
      ];
    case "applications":
      return [
        apiCall("call.applications", "GET", "/design/applications"),
        apiCall("call.add_application", "POST", "/design/applications", { name: "Spreadsheets" }),
        apiCall("call.add_reading", "POST", `/design/applications/${ID}/readings`, {
          indicator: "coverage",
          value: 60,
          unit: "% of industries",
          source: "https://example.org/report",
          dated: "2026-01-31",
        }),
        apiCall("call.decide_application", "POST", `/design/applications/${ID}/decision`, { state: "chosen", reason: "The highest score." }),
        apiCall("call.change_scoring", "POST", "/design/scoring", { coverage: { weight: 2, unit: "% of industries", scale: "linear" } }),
      ];
    case "balance":
      return [
        apiCall("call.balance", "GET", `/design/balance?${new URLSearchParams(pool ? { pool } : {}).toString()}`),
        apiCall("call.set_wanted_shares", "POST", "/design/balance", { pool: null, shares: { levels: [30, 25, 20, 15, 10] } }),
        apiCall("call.guess_difficulties", "POST", "/design/difficulties", { pool: null }),
      ];
  }
};

/** By the id of the page's route, which is its path. */
export const PAGE_CALLS: Readonly<Record<string, CallsOf>> = {
  home: () => [apiCall("call.home", "GET", "/home")],
  wall: () => [apiCall("call.wall", "GET", "/wall")],
  queue: () => [apiCall("call.queue", "GET", "/queue")],
  "desk/:id": ({ id }) => [apiCall("call.snapshot", "GET", `/episodes/${id}`), apiCall("call.trajectory", "GET", `/episodes/${id}/trajectory`)],
  episodes: ({ search }) => [apiCall("call.episodes", "GET", `/episodes?${episodeQuery(readEpisodeFilters(search)).toString()}`)],
  "episodes/:id": ({ id }) => [
    apiCall("call.trajectory", "GET", `/episodes/${id}/trajectory`),
    apiCall("call.review_sheet", "GET", `/episodes/${id}/review/sheet`),
    apiCall("call.review", "POST", `/episodes/${id}/review`, { decision: "accept" }),
    apiCall("call.lineage", "GET", `/trajectories/${id}/lineage`),
  ],
  review: ({ search }) => [
    apiCall("call.review_queue", "GET", `/reviews/queue?${reviewQuery(readReviewFilters(search)).toString()}`),
    apiCall("call.review_next", "POST", "/reviews/next", {}),
  ],
  compare: comparisonCalls,
  agreement: () => [apiCall("call.agreement", "GET", "/reviews/agreement")],
  trajectories: searchCalls,
  exports: (address) => [
    ...searchCalls(address),
    apiCall("exports.call.list", "GET", "/exports"),
    apiCall("exports.call.start", "POST", "/exports", { filters: { review: "accepted", ...narrowed(address.search) }, plan: { format: "canonical" } }),
    apiCall("call.datasets", "GET", "/datasets"),
    apiCall("call.imports", "GET", "/imports"),
  ],
  reports: ({ search }) => [apiCall("call.report", "GET", `/report?${reportQuery(readReportFilters(search, new Date())).toString()}`)],
  policies: () => [
    apiCall("policies.call.list", "GET", "/policies"),
    apiCall("call.pool_policies", "GET", "/policies/pools"),
    apiCall("policies.call.register", "POST", "/policies", { name: "my-policy", dialect: "ui_tars_1_5", ...SERVER }),
    apiCall("call.activate", "POST", `/pools/${ID}/policy`, { revision: 1 }),
    apiCall("call.probe", "POST", "/probes", { dialect: "ui_tars_1_5", base_url: SERVER.base_url, model: SERVER.model }),
  ],
  machines: () => [
    apiCall("call.fleet", "GET", "/fleet"),
    apiCall("call.prepared", "GET", "/fleet/prepared-requests?days=14"),
    apiCall("call.warm", "POST", `/fleet/images/${ID}/warm`, { count: 2 }),
    apiCall("call.drain", "POST", `/fleet/hosts/${ID}/draining`, { draining: true }),
    apiCall("call.reclaim", "POST", `/fleet/machines/${ID}/reclaim`, { reason: "It hangs." }),
    apiCall("call.quota", "POST", "/fleet/quotas", { scope: "user", name: "ada", limit: 2 }),
  ],
  pools: () => [
    apiCall("pools.call.list", "GET", "/pools/board"),
    apiCall("pools.call.make", "POST", "/pools", { settings: { name: "My pool", platform: "browser", image: "browser" } }),
    apiCall("call.change_pool", "PATCH", "/pools", { pools: [{ id: 1, version: 1 }], changes: { priority: 5 } }),
    apiCall("pools.call.tasks", "GET", `/pools/${ID}/tasks`),
    apiCall("pools.call.suite", "POST", `/pools/${ID}/suite`, { suite: "drills", seeds: 2 }),
    apiCall("pools.call.refill", "GET", `/pools/${ID}/refill`),
    apiCall("pools.call.refill_set", "POST", `/pools/${ID}/refill`, { active: true, per_day: 50, waiting_per_kind: 5, need_at_least: 0.5 }),
  ],
  judges: () => [
    apiCall("call.judges", "GET", "/judges"),
    apiCall("call.assign_judge", "POST", `/pools/${ID}/judges/${ID}`, { threshold: 0.5 }),
    apiCall("call.run_judge", "POST", `/pools/${ID}/judges/${ID}/runs`),
  ],
  people: ({ search }) => [
    apiCall("call.people", "GET", "/people"),
    apiCall("call.groups", "GET", "/groups"),
    apiCall("call.invitations", "GET", "/invitations"),
    apiCall("call.audit", "GET", `/audit?${auditQuery(readAuditFilters(search)).toString()}`),
  ],
  webhooks: () => [
    apiCall("call.webhooks", "GET", "/webhooks"),
    apiCall("call.add_webhook", "POST", "/webhooks", { url: "https://example.org/hook", events: ["export.finished"] }),
    apiCall("call.ping_webhook", "POST", `/webhooks/${ID}/ping`),
    apiCall("call.deliveries", "GET", `/webhooks/${ID}/deliveries`),
  ],
  design: designCalls,
  "design/drafts": ({ search }) => [
    apiCall("call.drafts", "GET", `/design/drafts?${new URLSearchParams({ node: search.get("node") ?? ID }).toString()}`),
    apiCall("call.add_draft", "POST", "/design/drafts", { node: 1, content: DRAFT }),
    apiCall("call.request_drafts", "POST", "/design/draft-requests", { node: 1, writer: 1, count: 6, expertises: ["novice", "expert"] }),
    apiCall("call.check_drafts", "POST", "/design/drafts/check", { drafts: [1], pool: 1 }),
    apiCall("call.accept_drafts", "POST", "/design/drafts/accept", { drafts: [1], pool: 1 }),
  ],
  flywheel: () => [
    apiCall("call.flywheels", "GET", "/wheels"),
    apiCall("call.run_cycle", "POST", `/wheels/${ID}/turns`),
    apiCall("call.flywheel_draft", "GET", `/wheels/draft?${new URLSearchParams({ pool: ID }).toString()}`),
  ],
  "flywheel/:id": ({ id }) => [
    apiCall("call.cycle", "GET", `/turns/${id}`),
    apiCall("call.samples", "GET", `/turns/${id}/samples`),
    apiCall("call.cancel_cycle", "POST", `/turns/${id}/cancel`),
    apiCall("call.resume_cycle", "POST", `/turns/${id}/resume`),
    apiCall("call.register_checkpoint", "POST", `/checkpoints/${ID}/register`, SERVER),
  ],
  "flywheel/:id/beside": ({ id, search }) => [apiCall("call.trials", "GET", `/turns/${id}/trials/beside?${search.toString()}`)],
  benchmarks: () => [
    apiCall("call.benchmarks", "GET", "/benchmarks"),
    apiCall("call.benchmark_choices", "GET", "/benchmarks/-/choices"),
    apiCall("call.start_benchmark", "POST", "/benchmarks", { benchmark: "drills", seeds: 2 }),
    apiCall("call.cancel_benchmark", "POST", `/benchmarks/${ID}/cancel`),
  ],
  evaluations: () => [
    apiCall("evaluations.call.list", "GET", "/evaluations"),
    apiCall("evaluations.call.start", "POST", "/benchmarks", { benchmark: "drills", revision: 1, seeds: 2 }),
  ],
  "evaluations/:id": evaluationCalls,
  health: () => [apiCall("call.health_parts", "GET", "/health/parts"), apiCall("call.health", "GET", "/health")],
  retention: () => [
    apiCall("call.retention", "GET", "/retention"),
    apiCall("call.add_rule", "POST", "/retention/rules", { what: "practice", days: 90 }),
    apiCall("call.preview_rule", "POST", `/retention/rules/${ID}/preview`),
  ],
  security: () => [apiCall("call.token_valid", "GET", "/me/signed-in")],
};
