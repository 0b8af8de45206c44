/** Commands of every screen. */
import type { Command } from "@/shared/commands/command";

const global = <Verb extends string>(verb: Verb, keys: readonly string[], whileTyping = false) =>
  ({
    id: `global.${verb}`,
    scope: "global",
    name: `global.${verb}`,
    help: `global.${verb}.help`,
    keys,
    whileTyping,
  }) as const;

export const globalCommands = {
  help: global("help", ["?", "F1"]),
  palette: global("palette", ["Mod+K"], true),
  home: global("home", ["Alt+I"], true),
  wall: global("wall", ["Alt+Y"], true),
  queue: global("queue", ["Alt+Q"], true),
  review: global("review", ["Alt+V"], true),
  episodes: global("episodes", ["Alt+W"], true),
  exports: global("exports", ["Alt+X"], true),
  reports: global("reports", ["Alt+R"], true),
  pools: global("pools", ["Alt+O"], true),
  policies: global("policies", ["Alt+P"], true),
  machines: global("machines", ["Alt+M"], true),
  judges: global("judges", ["Alt+J"], true),
  people: global("people", ["Alt+U"], true),
  health: global("health", ["Alt+H"], true),
  preferences: global("preferences", ["Mod+,"], true),
  undo: { ...global("undo", ["Alt+Z"], true), overDialogs: true },
  theme: global("theme", ["Alt+T"], true),
  language: global("language", ["Alt+L"], true),
  signOut: global("sign_out", ["Alt+Shift+Q"], true),
} satisfies Record<string, Command>;
