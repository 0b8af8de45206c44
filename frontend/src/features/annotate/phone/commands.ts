/** The commands only a phone has: its buttons, and its apps by name. */
import type { Command } from "@/shared/commands/command";

const phone = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.phone_${verb}`, scope: "desk", ...rest });

export const pressHome = phone("home", { name: "phone.home", help: "phone.home.help", keys: ["Home"] });
export const pressBack = phone("back", { name: "phone.back", help: "phone.back.help", keys: ["Backspace"] });
export const openApp = phone("apps", { name: "phone.apps", help: "phone.apps.help", keys: ["Q"] });

export const phoneCommands: readonly Command[] = [pressHome, pressBack, openApp];
