/** What a policy is called where evaluations are shown. */
import type { EvaluationRow } from "@/generated/api";
import type { Translate } from "@/shared/i18n/i18n";

type Revision = { readonly policy: string; readonly revision: string };

/** The name and revision under which runs of the tasks' own scripts are stored. */
const SCRIPTS = "expert";

export const policyLabel = ({ policy, revision }: Revision, t: Translate): string =>
  policy === SCRIPTS && revision === SCRIPTS ? t("benchmarks.start.expert") : `${policy} ${revision}`;

/** The names of the evaluated policies. */
export const policyNames = ({ policies }: Pick<EvaluationRow, "policies">, t: Translate): string =>
  policies.map(({ name, revision }) => policyLabel({ policy: name, revision }, t)).join(", ") || "–";
