/** Lists what needs you, the most urgent first, and plots the work of the last day. */
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import { lazy, Suspense } from "react";
import { Link } from "react-router";

import type { Home } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { homeQuery, type Item } from "./api";
import { describeItem, type Tone } from "./describe-item";
import styles from "./home.module.css";

/** Loaded separately: the charts are large, and the list must not wait for them. */
const HourPlots = lazy(() => import("./hour-plots"));

const URGENCY: readonly Tone[] = ["danger", "warn", "info"];
const MARKS = { danger: CircleAlert, warn: TriangleAlert, info: Info } as const;

export const prefetch: Prefetch = ({ client }) => [client.query(homeQuery)];

export default function HomePage() {
  const { t } = useI18n();
  const home = useQuery(homeQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("global.home") }]} />
      {home.isPending && <Loading />}
      {home.isError && !home.data && <ErrorState error={home.error} onRetry={() => void home.refetch()} />}
      {home.data && <Overview home={home.data} stale={home.isError} />}
    </Page>
  );
}

function Overview({ home, stale }: { home: Home; stale: boolean }) {
  const { t, time } = useI18n();
  return (
    <>
      <Section title={t("home.needs_you")} aside={stale && <span className={styles.stale}>{t("common.stale", { time: time(home.at) })}</span>}>
        {home.items.length === 0 ? <NothingNeedsYou /> : <Items items={home.items} now={Date.parse(home.at)} />}
      </Section>
      <Section title={t("home.last_day")} aside={<Link to="/reports">{t("global.reports")}</Link>}>
        <Suspense fallback={<div className={styles.plots} />}>
          <HourPlots hours={home.hours} />
        </Suspense>
      </Section>
    </>
  );
}

function NothingNeedsYou() {
  const { t } = useI18n();
  return (
    <p className={styles.nothing} role="status">
      <CircleCheck size={18} aria-hidden /> {t("home.nothing")}
    </p>
  );
}

function Items({ items, now }: { items: readonly Item[]; now: number }) {
  const i18n = useI18n();
  const admin = hasRole(useUser(), "admin");
  const rows = items.map((item) => ({ item, ...describeItem(item, i18n, admin) }));
  rows.sort((one, other) => URGENCY.indexOf(one.tone) - URGENCY.indexOf(other.tone));
  return (
    <ul className={styles.items}>
      {rows.map(({ item, tone, title, detail, to }) => (
        <li key={`${to} ${title} ${item.since}`} data-tone={tone} className={styles.item}>
          <ToneMark tone={tone} />
          <div className={styles.what}>
            <Link to={to} className={styles.link}>
              {title}
            </Link>
            {detail && <p className={styles.detail}>{detail}</p>}
          </div>
          {item.since && (
            <time className={styles.since} dateTime={item.since} title={i18n.moment(item.since)}>
              {i18n.relative(item.since, now)}
            </time>
          )}
        </li>
      ))}
    </ul>
  );
}

function ToneMark({ tone }: { tone: Tone }) {
  const { t } = useI18n();
  const Mark = MARKS[tone];
  return <Mark size={17} className={styles.mark} role="img" aria-label={t(`home.tone.${tone}`)} />;
}
