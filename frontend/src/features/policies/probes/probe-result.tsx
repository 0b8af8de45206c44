/** What a probe found: what is wrong, what the server can do, which dialect reads the model, and where its points land. */
import type { ProbeReport } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { RateText } from "@/shared/ui/tables/rate";

import { GroundingPictures } from "./grounding-pictures";
import styles from "./probes.module.css";

const TONES = { error: "danger", warning: "warn", note: "neutral" } as const;

export function ProbeResult({ report }: { report: ProbeReport }) {
  const { t } = useI18n();
  return (
    <div className={styles.result}>
      {report.findings.length === 0 && (
        <div>
          <Badge tone="ok">{t("probes.nothing_wrong")}</Badge>
        </div>
      )}
      {report.findings.length > 0 && (
        <ul className={styles.findings}>
          {report.findings.map((finding) => (
            <li key={finding.code}>
              <Badge tone={TONES[finding.severity]}>{t(`probes.finding.${finding.code}`)}</Badge> {finding.message}
            </li>
          ))}
        </ul>
      )}
      <Facts report={report} />
      <Dialects report={report} />
      {report.grounding && report.grounding.points.length > 0 && <GroundingPictures points={report.grounding.points} />}
    </div>
  );
}

function Facts({ report }: { report: ProbeReport }) {
  const { t, duration, number } = useI18n();
  const { server, grounding } = report;
  const known = (value: boolean | null) => (value === null ? t("policies.unknown") : t(value ? "probes.yes" : "probes.no"));
  const amount = (value: number | null) => value ?? t("policies.unknown");
  const time = (ms: number | null) => (ms === null ? t("policies.unknown") : duration(ms));
  const error =
    grounding?.mean_error_px == null
      ? "–"
      : `${number(grounding.mean_error_px, 1)} ± ${number(grounding.mean_error_ci_px ?? 0, 1)} px`;
  const facts = [
    [t("probes.fact.hits"), grounding ? <RateText key="rate" rate={grounding.rate} /> : "–"],
    [t("probes.fact.error"), error],
    [t("probes.fact.first_token"), time(server.first_token_ms)],
    [t("probes.fact.health"), time(server.health_ms)],
    [t("probes.fact.context"), amount(server.context_tokens)],
    [t("probes.fact.images"), amount(server.images)],
    [t("probes.fact.choices"), known(server.several_choices)],
    [t("probes.fact.logprobs"), known(server.logprobs)],
    [t("probes.fact.token_ids"), known(server.token_ids)],
    [t("probes.fact.reasoning"), known(server.reasoning)],
    [t("probes.fact.version"), server.version || t("policies.unknown")],
    [t("policies.weight_version"), server.weight_version || t("policies.unknown")],
    [t("probes.fact.seconds"), duration(report.seconds * 1_000)],
  ] as const;
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The dialects that read something of it, the best first. */
function Dialects({ report }: { report: ProbeReport }) {
  const { t } = useI18n();
  const scores = report.dialects
    .filter(({ read, dialect }) => read > 0 || dialect === report.dialect)
    .toSorted((one, other) => other.hits / other.questions - one.hits / one.questions)
    .slice(0, 6);
  if (scores.length === 0) return null;
  return (
    <table className={styles.dialects}>
      <caption>{t("probes.dialects")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("policies.dialect")}</th>
          <th scope="col">{t("probes.read")}</th>
          <th scope="col">{t("probes.hit")}</th>
        </tr>
      </thead>
      <tbody>
        {scores.map((score) => (
          <tr key={`${score.dialect} ${score.own_prompt}`} data-own={score.dialect === report.dialect || undefined}>
            <th scope="row">{score.dialect}</th>
            <td>{t("probes.of", { count: score.read, all: score.questions })}</td>
            <td>{t("probes.of", { count: score.hits, all: score.questions })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
