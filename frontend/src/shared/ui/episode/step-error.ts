/** Why an act failed, in the reader's language where the server says it in a fixed form. */
import type { ActionError } from "@/generated/vocabulary";
import { en } from "@/shared/i18n/en";
import type { I18n } from "@/shared/i18n/i18n";

const REASONS = [
  "secret_refused.kinds",
  "secret_refused.host",
  "secret_refused.host_unknown",
  "secret_refused.application",
  "secret_refused.application_unknown",
  "secret_refused.application_changed",
  "secret_refused.host_changed",
] as const;
type Reason = (typeof REASONS)[number];

const PATTERNS: readonly (readonly [Reason, RegExp])[] = REASONS.map((reason) => [reason, patternOf(en[reason])]);

/** The server's message is English, since models read it too; another language is made from its parts. */
export function describeStepError({ code, message }: ActionError, { t }: I18n): string {
  if (code !== "secret_refused") return message;
  const translate = t as (reason: Reason, values: Readonly<Record<string, string>>) => string;
  for (const [reason, pattern] of PATTERNS) {
    const found = pattern.exec(message);
    if (found !== null) return translate(reason, found.groups ?? {});
  }
  return message;
}

/** What finds the values of a message's parameters. */
function patternOf(message: string): RegExp {
  const literal = message.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/\{(\w+)\}/g, "(?<$1>.+?)")}$`, "s");
}
