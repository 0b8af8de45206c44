/** What evaluations found of a revision, and what the gates of pools said. */
import { Anchor } from "@mantine/core";
import { Link } from "react-router";

import type { EvaluationSummary, GateOutcome } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { reasonText } from "@/shared/ui/gate-reason";
import { RateText } from "@/shared/ui/tables/rate";

import styles from "./policies.module.css";

export function EvaluationList({ evaluations }: { evaluations: readonly EvaluationSummary[] }) {
  const { t, moment } = useI18n();
  if (evaluations.length === 0) return <p className={styles.note}>{t("policies.evaluations.none")}</p>;
  return (
    <ul className={styles.list}>
      {evaluations.map((evaluation) => (
        <li key={evaluation.id}>
          <Anchor component={Link} to={`/evaluations/${evaluation.id}`} size="sm">
            {moment(evaluation.created_at)}
          </Anchor>{" "}
          · {t("policies.attempts", { count: evaluation.attempts })} ·{" "}
          <code title={evaluation.sha256}>{evaluation.sha256.slice(0, 12)}</code>
          {evaluation.compared && <div>{t(`policies.compared.${evaluation.compared}`)}</div>}
          {evaluation.suites.map(({ suite, successes }) => (
            <div key={suite}>
              {suite}: <RateText rate={successes} />
            </div>
          ))}
          {evaluation.decisions.map((decision) => (
            <DecisionText key={decision.pool} decision={decision} />
          ))}
        </li>
      ))}
    </ul>
  );
}

function DecisionText({ decision }: { decision: GateOutcome }) {
  const i18n = useI18n();
  const description = decision.promoted ? "promoted" : decision.passed ? "passed" : "shut";
  return (
    <div>
      <Badge tone={decision.passed ? "ok" : "warn"}>{i18n.t(`policies.decision.${description}`, { pool: decision.pool })}</Badge>
      {decision.reasons.length > 0 && (
        <ul className={styles.list}>
          {decision.reasons.map((reason) => (
            <li key={`${reason.code} ${reason.subject}`}>{reasonText(reason, i18n)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
