/** Applications to choose from: their indicators with source and date, a score that follows, and what was decided. */
import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { ApplicationOut, ApplicationsPage } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DownloadButton } from "@/shared/ui/download-button";
import { Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";

import { cellSearch } from "@/features/design/address";
import styles from "@/features/design/design.module.css";
import { FileImport } from "@/features/design/file-import";
import { ApplicationDetail } from "./application-detail";
import { applicationsQuery, INDICATORS, sendReadings, useApplicationChange, type State } from "./api";
import { ScoringDialog } from "./scoring-dialog";

const STATE_TONES = { candidate: "neutral", chosen: "ok", dropped: "warn" } as const;
const STATES = ["candidate", "chosen", "dropped"] as const;

export function ApplicationsView() {
  const { t } = useI18n();
  const applications = useQuery(applicationsQuery);
  const admin = hasRole(useUser(), "admin");
  return (
    <Section title={t("design.view.applications")} aside={<Tools admin={admin} page={applications.data} />}>
      {applications.isPending && <Loading />}
      {applications.isError && !applications.data && <ErrorState error={applications.error} onRetry={() => void applications.refetch()} />}
      {applications.data && <Applications page={applications.data} admin={admin} />}
    </Section>
  );
}

function Tools({ admin, page }: { admin: boolean; page: ApplicationsPage | undefined }) {
  const { t } = useI18n();
  return (
    <>
      {page && <ScoringDialog key={page.scoring.version} scoring={page.scoring} admin={admin} />}
      {admin && (
        <FileImport
          accept=".csv"
          send={sendReadings}
          faultsOf={({ faults }) => faults}
          faultText={({ row, column, code }) => {
            const reason = t(`applications.fault.${code}`);
            return column === "" ? t("design.import.fault", { row, reason }) : t("applications.import.fault", { row, column, reason });
          }}
          summary={({ rows, applications, added, changed, same }) => (
            <>
              <p>{t("applications.import.would", { applications, added, changed, same })}</p>
              <ol className={styles.preview} aria-label={t("applications.import.rows")}>
                {rows.map(({ row, application, indicator, effect }) => (
                  <li key={row}>
                    {t("applications.import.row", { row, what: indicator ? `${application} · ${t(`applications.${indicator}`)}` : application })}{" "}
                    <Badge tone={effect === "same" ? "neutral" : "ok"}>{t(`applications.import.${effect}`)}</Badge>
                  </li>
                ))}
              </ol>
            </>
          )}
        />
      )}
      <DownloadButton href="/api/design/applications.csv" label="CSV" />
    </>
  );
}

function Applications({ page, admin }: { page: ApplicationsPage; admin: boolean }) {
  const { t, number } = useI18n();
  const [state, setState] = useState<State | null>(null);
  const change = useApplicationChange();
  const rows = state === null ? page.items : page.items.filter((one) => one.state === state);
  return (
    <>
      {page.items.length === 0 ? (
        <Empty title={t("applications.none")}>{t("applications.none.help")}</Empty>
      ) : (
        <>
          <div className={styles.intro}>
            <p className={styles.note}>{t("applications.help", { version: page.scoring.version })}</p>
            <Select
              aria-label={t("applications.state")}
              placeholder={t("applications.every_state")}
              w={170}
              clearable
              data={STATES.map((value) => ({ value, label: t(`applications.state.${value}`) }))}
              value={state}
              onChange={(value) => setState(STATES.find((one) => one === value) ?? null)}
            />
          </div>
          <Problem error={change.error} />
          <DataTable
            label={t("design.view.applications")}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                header: t("design.name"),
                kind: "name",
                cell: (row) => (
                  <>
                    {row.name} <Badge tone={STATE_TONES[row.state]}>{t(`applications.state.${row.state}`)}</Badge>
                  </>
                ),
              },
              { header: t("applications.rank"), kind: "number", cell: ({ rank, score }) => (score === null ? "–" : rank) },
              { header: t("applications.score"), kind: "number", help: t("applications.score.help"), cell: (row) => <ScoreText row={row} /> },
              ...INDICATORS.map((indicator) => ({
                header: t("applications.in_unit", { indicator: t(`applications.${indicator}`), unit: page.scoring.rule[indicator]?.unit ?? "" }),
                kind: "number" as const,
                help: t(`applications.${indicator}.help`),
                cell: (row: ApplicationOut) => {
                  const part = row.parts.find((one) => one.indicator === indicator);
                  return part?.value != null ? number(part.value) : <Missing otherUnit={part?.state === "other_unit"} />;
                },
              })),
              {
                header: t("applications.decision"),
                kind: "actions" as const,
                cell: (row) => <DecisionCell row={row} admin={admin} onDecide={(to) => change.mutate({ type: "decide", application: row.id, state: to, reason: "" })} />,
              },
            ]}
            details={{
              header: t("applications.details"),
              ariaLabel: ({ name }) => t("applications.details_of", { name }),
              body: (row) => <ApplicationDetail key={row.id} row={row} rule={page.scoring.rule} admin={admin} />,
            }}
          />
          {rows.length === 0 && <Empty title={t("applications.none_in_state")} />}
        </>
      )}
      {admin && <AddForm />}
    </>
  );
}

function ScoreText({ row: { score, low, high } }: { row: ApplicationOut }) {
  const { t, number } = useI18n();
  if (score === null) return <span className={styles.note}>{t("applications.no_score")}</span>;
  return (
    <>
      {number(score, 3)}
      {low !== null && high !== null && low < high && (
        <div className={styles.note}>{t("applications.range", { low: number(low, 2), high: number(high, 2) })}</div>
      )}
    </>
  );
}

function Missing({ otherUnit }: { otherUnit: boolean }) {
  const { t } = useI18n();
  return <span className={styles.note}>{t(otherUnit ? "applications.other_unit" : "applications.missing")}</span>;
}

type DecisionProps = { readonly row: ApplicationOut; readonly admin: boolean; readonly onDecide: (state: State) => void };

function DecisionCell({ row: { name, state, node }, admin, onDecide }: DecisionProps) {
  const { t } = useI18n();
  const offered: readonly [State, "choose" | "drop" | "back"][] =
    state === "candidate" ? [["chosen", "choose"], ["dropped", "drop"]] : state === "chosen" && node === null ? [["chosen", "choose"], ["candidate", "back"]] : [["candidate", "back"]];
  return (
    <>
      {node !== null && (
        <Link to={{ pathname: "/design", search: cellSearch({ node, level: null }).toString() }} aria-label={t("applications.graph_of", { name })}>
          {t("applications.graph")}
        </Link>
      )}
      {admin &&
        offered.map(([to, word]) => (
          <Button
            key={word}
            variant="default"
            size="compact-xs"
            aria-label={t(`applications.${word}_one`, { name })}
            onClick={() => onDecide(to)}
          >
            {t(`applications.${word}`)}
          </Button>
        ))}
    </>
  );
}

function AddForm() {
  const { t } = useI18n();
  const change = useApplicationChange();
  const [name, setName] = useState("");
  return (
    <div className={styles.form}>
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ type: "add", name }, { onSuccess: () => setName("") });
        }}
      >
        <TextInput label={t("design.application")} value={name} maxLength={100} onChange={(event) => setName(event.currentTarget.value)} />
        <Button type="submit" variant="default" disabled={name.trim() === ""} loading={change.isPending}>
          {t("design.add")}
        </Button>
      </form>
      <Problem error={change.error} />
    </div>
  );
}
