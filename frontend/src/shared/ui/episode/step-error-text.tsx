/** Why an act failed, in the reader's language. */
import type { ActionError } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";

import { describeStepError } from "./step-error";

export function StepErrorText({ error }: { error: ActionError }) {
  return <>{describeStepError(error, useI18n())}</>;
}
