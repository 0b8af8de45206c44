/** The commands only a phone has: its buttons, and its apps by name. */
import type { Command } from "@/shared/commands/command";

const phoneCommand = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.phone_${verb}`, scope: "workspace", ...rest });

export const pressHome = phoneCommand("home", { name: "phone.home", help: "phone.home.help", keys: ["Home"] });
export const pressBack = phoneCommand("back", { name: "phone.back", help: "phone.back.help", keys: ["Backspace"] });
export const openApp = phoneCommand("apps", { name: "phone.apps", help: "phone.apps.help", keys: ["Q"] });

export const phoneCommands: readonly Command[] = [pressHome, pressBack, openApp];
