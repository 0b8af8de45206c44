/** The commands only a browser has: its address, its pages, and its own time. */
import type { Command } from "@/shared/commands/command";

const browser = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.browser_${verb}`, scope: "desk", ...rest });

export const goBack = browser("back", { name: "browser.back", help: "browser.back.help", keys: [","] });
export const toAddress = browser("address", { name: "browser.address", help: "browser.address.help", keys: [";"] });
export const waitOn = browser("wait", { name: "browser.wait", help: "browser.wait.help", keys: ["."] });
export const changePace = browser("pace", { name: "browser.pace", help: "browser.pace.help", keys: ["="] });
export const previousPage = browser("previous_page", { name: "browser.previous_page", help: "browser.previous_page.help", keys: ["<"] });
export const nextPage = browser("next_page", { name: "browser.next_page", help: "browser.next_page.help", keys: [">"] });
export const closePage = browser("close_page", { name: "browser.close_page", help: "browser.close_page.help", keys: ["Delete"] });

export const browserCommands: readonly Command[] = [goBack, toAddress, waitOn, changePace, previousPage, nextPage, closePage];
