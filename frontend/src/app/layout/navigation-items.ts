/** The pages people go to: who may, by which command, and whether they stand in the bar or in its menu of what admins look after. */
import { hasRole, TO_REVIEW, type Role } from "@/shared/account/account";
import { globalCommands } from "@/shared/commands/global";
import type { Command } from "@/shared/commands/command";
import type { PlainKey } from "@/shared/i18n/i18n";
import type { UserOut } from "@/generated/api";

export type NavigationItem = {
  readonly to: string;
  readonly label: PlainKey;
  /** Who may go there; everybody where it is not said. */
  readonly roles?: readonly Role[];
  /** Who has another page in its place. */
  readonly unless?: Role;
  readonly command?: Command;
};

export const MAIN_ITEMS: readonly NavigationItem[] = [
  { to: "/home", label: "global.home", roles: ["reviewer", "researcher"], command: globalCommands.home },
  { to: "/queue", label: "global.queue", roles: ["annotator"], command: globalCommands.queue },
  { to: TO_REVIEW, label: "global.review", roles: ["reviewer"], command: globalCommands.review },
  { to: "/wall", label: "global.wall", roles: ["reviewer"], command: globalCommands.wall },
  { to: "/episodes", label: "global.episodes", command: globalCommands.episodes },
  { to: "/recorder", label: "recorder.title", roles: ["annotator"] },
  { to: "/trajectories", label: "nav.search", roles: ["reviewer"], unless: "researcher" },
  { to: "/exports", label: "exports.page", roles: ["researcher"], command: globalCommands.exports },
  { to: "/reports", label: "global.reports", roles: ["reviewer", "researcher"], command: globalCommands.reports },
];

/** What admins look after: one menu, so that the bar stays short. */
export const ADMIN_ITEMS: readonly NavigationItem[] = [
  { to: "/pools", label: "global.pools", roles: ["admin"], command: globalCommands.pools },
  { to: "/design", label: "global.design", roles: ["admin", "researcher"] },
  { to: "/policies", label: "global.policies", roles: ["admin", "researcher"], command: globalCommands.policies },
  { to: "/judges", label: "global.judges", roles: ["admin"], command: globalCommands.judges },
  { to: "/flywheel", label: "global.flywheel", roles: ["admin", "researcher"] },
  { to: "/benchmarks", label: "benchmarks.title", roles: ["admin", "researcher"] },
  { to: "/agreement", label: "nav.agreement", roles: ["reviewer", "researcher"] },
  { to: "/evaluations", label: "evaluations.title", roles: ["admin", "researcher"] },
  { to: "/machines", label: "global.machines", roles: ["admin"], command: globalCommands.machines },
  { to: "/people", label: "global.people", roles: ["admin"], command: globalCommands.people },
  { to: "/webhooks", label: "webhooks.title", roles: ["admin"] },
  { to: "/health", label: "global.health", roles: ["admin", "researcher"], command: globalCommands.health },
  { to: "/retention", label: "global.retention", roles: ["admin"] },
];

export const canOpen = (user: UserOut, { roles, unless }: NavigationItem): boolean =>
  (!roles || hasRole(user, ...roles)) && !(unless && hasRole(user, unless));
