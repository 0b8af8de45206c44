/** How tasks are spread over the levels of difficulty, which levels lack tasks, and where they can be made. */
import { Button, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";

import type { BalanceLevel, BalancePage } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";

import { cellSearch, wholeNumber } from "@/features/design/address";
import { LEVELS } from "@/features/design/api";
import styles from "@/features/design/design.module.css";
import { balanceQuery, useBalanceChange } from "./api";
import { isWhole, sumOf } from "./shares";

export function BalanceView() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const pool = wholeNumber(search.get("pool"));
  const balance = useQuery(balanceQuery(pool));
  const admin = hasRole(useUser(), "admin");
  const page = balance.data;
  return (
    <Section
      title={t("balance.title")}
      aside={
        page && (
          <Select
            aria-label={t("balance.pool")}
            placeholder={t("balance.every_pool")}
            w={220}
            clearable
            searchable
            data={page.pools.map(({ id, name }) => ({ value: String(id), label: name }))}
            value={pool === null ? null : String(pool)}
            onChange={(id) => setSearch({ view: "balance", ...(id === null ? {} : { pool: id }) }, { replace: true })}
          />
        )
      }
    >
      {balance.isPending && <Loading />}
      {balance.isError && <ErrorState error={balance.error} onRetry={() => void balance.refetch()} />}
      {page && !balance.isError && <Balance page={page} admin={admin} />}
    </Section>
  );
}

function Balance({ page, admin }: { page: BalancePage; admin: boolean }) {
  const { t, percent } = useI18n();
  const missing = page.levels.reduce((sum, level) => sum + level.missing, 0);
  return (
    <>
      {page.tasks === 0 ? (
        <Empty title={t("balance.none")}>{t("balance.none.help")}</Empty>
      ) : (
        <>
          <p className={styles.lead}>
            {t(missing === 0 ? "balance.fine" : "balance.lacking", { count: page.tasks, missing, tolerance: percent(page.tolerance) })}
          </p>
          <LevelTable levels={page.levels} />
        </>
      )}
      {page.unrated > 0 && <Unrated page={page} admin={admin} />}
      <WantedForm key={`${page.pool} ${page.wanted.levels.join(" ")} ${page.own}`} page={page} admin={admin} />
    </>
  );
}

function LevelTable({ levels }: { levels: readonly BalanceLevel[] }) {
  const { t, percent } = useI18n();
  return (
    <DataTable
      label={t("balance.title")}
      rows={levels}
      keyOf={({ level }) => level}
      columns={[
        { header: t("design.difficulty"), kind: "name", cell: ({ level }) => t("design.level", { level }) },
        {
          header: t("balance.tasks"),
          kind: "number",
          cell: ({ tasks, guessed }) => (
            <>
              {tasks}
              {guessed > 0 && <div className={styles.note}>{t("balance.guessed", { count: guessed })}</div>}
            </>
          ),
        },
        { header: t("balance.share"), cell: (level) => <ShareBar level={level} /> },
        { header: t("balance.wanted"), kind: "number", cell: ({ wanted }) => percent(wanted) },
        { header: t("balance.state"), cell: (level) => <LevelState level={level} /> },
        {
          header: t("balance.places"),
          cell: ({ level, missing, places }) =>
            missing === 0 ? (
              "–"
            ) : (
              <ul className={styles.places}>
                {places.map(({ node, path, tasks }) => (
                  <li key={node}>
                    <Link to={{ pathname: "/design", search: cellSearch({ node, level: tasks > 0 ? level : null }).toString() }}>{path}</Link>{" "}
                    <span className={styles.note}>{tasks > 0 ? t("balance.place", { count: tasks }) : t("balance.place.none")}</span>{" "}
                    <Link to={{ pathname: "/design/drafts", search: `?node=${node}` }}>{t("drafts.title")}</Link>
                  </li>
                ))}
                <li>
                  <Link to="/pools">{t("balance.pools")}</Link>
                </li>
              </ul>
            ),
        },
      ]}
    />
  );
}

/** The share of a level, with a mark where the wanted one is; the figures stand beside it. */
function ShareBar({ level: { share, wanted, in_balance } }: { level: BalanceLevel }) {
  const { percent } = useI18n();
  return (
    <div className={styles.share}>
      <div className={styles.track} aria-hidden>
        <div className={styles.bar} data-balanced={in_balance || undefined} style={{ inlineSize: percent0(share) }} />
        <div className={styles.mark} style={{ insetInlineStart: percent0(wanted) }} />
      </div>
      <span>{percent(share)}</span>
    </div>
  );
}

const percent0 = (share: number) => `${Math.round(share * 1_000) / 10}%`;

function LevelState({ level: { in_balance, missing, share, wanted } }: { level: BalanceLevel }) {
  const { t } = useI18n();
  if (missing > 0) return <Badge tone="warn">{t("balance.missing", { count: missing })}</Badge>;
  if (in_balance) return <Badge tone="ok">{t("balance.in_balance")}</Badge>;
  return <Badge tone="neutral">{t(share > wanted ? "balance.many" : "balance.follows")}</Badge>;
}

function Unrated({ page: { pool, unrated }, admin }: { page: BalancePage; admin: boolean }) {
  const { t } = useI18n();
  const change = useBalanceChange();
  return (
    <div className={styles.form}>
      <p className={styles.note}>{t("balance.unrated", { count: unrated })}</p>
      {admin && (
        <Button variant="default" w="fit-content" loading={change.isPending} onClick={() => change.mutate({ type: "guess", pool })}>
          {t("balance.guess")}
        </Button>
      )}
      <Problem error={change.error} />
    </div>
  );
}

function WantedForm({ page: { pool, wanted, own }, admin }: { page: BalancePage; admin: boolean }) {
  const { t } = useI18n();
  const change = useBalanceChange();
  const [shares, setShares] = useState<readonly number[]>(wanted.levels);
  const whole = isWhole(shares);
  return (
    <form
      className={styles.form}
      aria-label={t("balance.wanted_shares")}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "wanted", pool, shares: { levels: shares } });
      }}
    >
      <p className={styles.note}>{t(own ? "balance.wanted.own" : pool === null ? "balance.wanted.default" : "balance.wanted.inherited")}</p>
      {admin && (
        <>
          <div className={styles.fields}>
            {LEVELS.map((level, place) => (
              <NumberInput
                key={level}
                label={t("balance.wanted_of", { level })}
                w={104}
                min={0}
                max={100}
                allowDecimal={false}
                suffix=" %"
                value={shares[place] ?? 0}
                onChange={(value) => setShares(shares.map((share, at) => (at === place ? Number(value) : share)))}
              />
            ))}
            <Button type="submit" variant="default" disabled={!whole} loading={change.isPending}>
              {t("design.save")}
            </Button>
            {own && (
              <Button variant="default" onClick={() => change.mutate({ type: "wanted", pool, shares: null })}>
                {t(pool === null ? "balance.wanted.even" : "balance.wanted.inherit")}
              </Button>
            )}
          </div>
          {!whole && <p role="alert">{t("balance.wanted.sum", { sum: sumOf(shares) })}</p>}
        </>
      )}
      <Problem error={change.error} />
    </form>
  );
}
