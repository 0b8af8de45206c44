/** The commands only a browser has: its address, its pages, and its own time. */
import type { Command } from "@/shared/commands/command";

const browserCommand = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.browser_${verb}`, scope: "workspace", ...rest });

export const goBack = browserCommand("back", { name: "browser.back", help: "browser.back.help", keys: [","] });
export const focusAddress = browserCommand("address", { name: "browser.address", help: "browser.address.help", keys: [";"] });
export const waitOn = browserCommand("wait", { name: "browser.wait", help: "browser.wait.help", keys: ["."] });
export const changePace = browserCommand("pace", { name: "browser.pace", help: "browser.pace.help", keys: ["="] });
export const previousPage = browserCommand("previous_page", { name: "browser.previous_page", help: "browser.previous_page.help", keys: ["<"] });
export const nextPage = browserCommand("next_page", { name: "browser.next_page", help: "browser.next_page.help", keys: [">"] });
export const closePage = browserCommand("close_page", { name: "browser.close_page", help: "browser.close_page.help", keys: ["Delete"] });
export const connectProgram = browserCommand("program", { name: "browser.program", help: "browser.program.help", keys: ["Shift+B"] });

export const browserCommands: readonly Command[] = [goBack, focusAddress, waitOn, changePace, previousPage, nextPage, closePage, connectProgram];
