/** Messages of the desk. */
import type { Message } from "@/shared/i18n/messages";

export const deskMessages = {} as const satisfies Record<string, Message>;
