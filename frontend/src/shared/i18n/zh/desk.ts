/** Messages of the desk, in Chinese. */
import type { deskMessages as english } from "@/shared/i18n/en/desk";
import type { Message } from "@/shared/i18n/messages";

export const deskMessages: { [Key in keyof typeof english]: Message } = {};
