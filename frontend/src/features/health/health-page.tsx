/** Whether everything works: each part, since when it is as it is, and what to do where it is not well. */
import { useQuery } from "@tanstack/react-query";

import type { HealthPage as Health } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { GROUPS, healthQuery, type Kind } from "./api";
import { CheckRow, StateMark } from "./check-row";
import styles from "./health.module.css";

export default function HealthPage() {
  const { t } = useI18n();
  const health = useQuery(healthQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("health.title") }]} />
      {health.isPending && <Loading />}
      {health.isError && !health.data && <ErrorState error={health.error} onRetry={() => void health.refetch()} />}
      {health.data && <Overview health={health.data} stale={health.isError} />}
    </Page>
  );
}

function Overview({ health: { at, checks }, stale }: { health: Health; stale: boolean }) {
  const { t } = useI18n();
  return (
    <>
      <Summary health={{ at, checks }} stale={stale} />
      {GROUPS.map(({ key, kinds }) => {
        const rows = checks.filter(({ kind }) => (kinds as readonly Kind[]).includes(kind));
        return (
          rows.length > 0 && (
            <Section key={key} title={t(`health.${key}`)}>
              <ul className={styles.list}>
                {rows.map((check) => (
                  <CheckRow key={check.name} check={check} at={at} />
                ))}
              </ul>
            </Section>
          )
        );
      })}
    </>
  );
}

/** One line for all: what is down, what needs a look, and when it was asked. */
function Summary({ health: { at, checks }, stale }: { health: Health; stale: boolean }) {
  const { t, time } = useI18n();
  const down = checks.filter(({ state }) => state === "down").length;
  const warned = checks.filter(({ state }) => state === "warn").length;
  const worst = down > 0 ? "down" : warned > 0 ? "warn" : "ok";
  const problems = [down > 0 && t("health.down", { count: down }), warned > 0 && t("health.warned", { count: warned })];
  return (
    <div className={styles.summary} data-state={worst}>
      <p role="status" className={styles.words}>
        <StateMark state={worst} />
        {worst === "ok" ? t("health.well") : problems.filter(Boolean).join(", ")}
      </p>
      <span className={styles.note}>
        {stale ? t("common.stale", { time: time(at) }) : t("health.updated", { time: time(at) })}
      </span>
    </div>
  );
}
