/** One application: how its score comes about, its readings, who decided what, and its name. */
import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";

import type { ApplicationOut, ReadingIn, ReadingOut, ScoringRule } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "@/features/design/design.module.css";
import { INDICATORS, useApplicationChange, type Indicator } from "./api";

type Props = { readonly row: ApplicationOut; readonly rule: ScoringRule; readonly admin: boolean };

export function ApplicationDetail({ row, rule, admin }: Props) {
  const { t } = useI18n();
  return (
    <div className={styles.stack}>
      <ScoreParts row={row} />
      <Decision row={row} admin={admin} />
      {row.readings.length === 0 ? <p className={styles.note}>{t("applications.no_readings")}</p> : <Readings row={row} admin={admin} />}
      {admin && <ReadingForm application={row.id} rule={rule} />}
      {admin && <NameForm row={row} />}
    </div>
  );
}

/** What each indicator adds, and how what is missing counts. */
function ScoreParts({ row: { parts, score } }: { row: ApplicationOut }) {
  const { t, number, percent } = useI18n();
  if (score === null) return <p className={styles.note}>{t("applications.no_score.help")}</p>;
  return (
    <ul className={styles.parts}>
      {parts.map(({ indicator, state, share, weight }) => (
        <li key={indicator}>
          {t("applications.part", {
            indicator: t(`applications.${indicator}`),
            what:
              share === null || weight === 0
                ? t("applications.part.unused")
                : t(`applications.part.${state}`, { share: number(share, 3), weight: percent(weight) }),
          })}
        </li>
      ))}
    </ul>
  );
}

function Decision({ row: { id, state, decision }, admin }: { row: ApplicationOut; admin: boolean }) {
  const { t, moment, number } = useI18n();
  const change = useApplicationChange();
  const [reason, setReason] = useState(decision?.reason ?? "");
  return (
    <>
      {decision && (
        <p className={styles.note}>
          {t(`applications.decided.${state}`, { who: decision.by, when: moment(decision.at) })}{" "}
          {t("applications.decided.score", { score: decision.score === null ? "–" : number(decision.score, 3), version: decision.version })}
        </p>
      )}
      {admin && decision && (
        <form
          className={styles.fields}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ type: "decide", application: id, state, reason });
          }}
        >
          <TextInput label={t("applications.reason")} w={320} maxLength={500} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
          <Button type="submit" variant="default" disabled={reason.trim() === decision.reason} loading={change.isPending}>
            {t("design.save")}
          </Button>
        </form>
      )}
      <Problem error={change.error} />
    </>
  );
}

function Readings({ row, admin }: { row: ApplicationOut; admin: boolean }) {
  const { t, number } = useI18n();
  const change = useApplicationChange();
  const nameOf = ({ indicator, dated }: ReadingOut) => `${t(`applications.${indicator}`)}, ${dated}`;
  return (
    <DataTable
      label={t("applications.readings_of", { name: row.name })}
      rows={row.readings}
      keyOf={({ id }) => id}
      columns={[
        {
          header: t("applications.indicator"),
          kind: "name",
          cell: (one) => (
            <>
              {t(`applications.${one.indicator}`)} {one.counted && <Badge tone="ok">{t("applications.counted")}</Badge>}
            </>
          ),
        },
        { header: t("applications.value"), kind: "number", cell: (one) => number(one.value) },
        { header: t("applications.unit"), cell: (one) => one.unit },
        { header: t("applications.dated"), cell: (one) => one.dated },
        { header: t("applications.source"), className: styles.source, cell: (one) => <SourceText text={one.source} /> },
        { header: t("applications.recorded_by"), cell: (one) => one.recorded_by },
        ...(admin
          ? [
              {
                header: t("design.delete"),
                kind: "actions" as const,
                cell: (one: ReadingOut) => (
                  <ConfirmButton
                    label={t("design.delete")}
                    ariaLabel={t("design.delete_one", { name: nameOf(one) })}
                    confirmation={t("applications.unread.ask", { what: nameOf(one) })}
                    onConfirm={() => change.mutateAsync({ type: "unread", reading: one.id })}
                  />
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

/** A source; a link where it is an address. */
function SourceText({ text }: { text: string }) {
  return /^https?:\/\/\S+$/i.test(text) ? (
    <a href={text} target="_blank" rel="noreferrer noopener">
      {text}
    </a>
  ) : (
    text
  );
}

function ReadingForm({ application, rule }: { application: number; rule: ScoringRule }) {
  const { t } = useI18n();
  const change = useApplicationChange();
  const [indicator, setIndicator] = useState<Indicator>("coverage");
  const [value, setValue] = useState<number | string>("");
  const [unit, setUnit] = useState<string | null>(null);
  const [source, setSource] = useState("");
  const [dated, setDated] = useState("");
  const expected = rule[indicator]?.unit ?? "";
  const reading: ReadingIn = { indicator, value: Number(value), unit: unit ?? expected, source, dated };
  const complete = value !== "" && reading.unit.trim() !== "" && source.trim() !== "" && dated !== "";
  return (
    <form
      className={styles.fields}
      aria-label={t("applications.read")}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "read", application, reading }, { onSuccess: () => setValue("") });
      }}
    >
      <Select
        label={t("applications.indicator")}
        w={130}
        allowDeselect={false}
        data={INDICATORS.map((one) => ({ value: one, label: t(`applications.${one}`) }))}
        value={indicator}
        onChange={(one) => {
          setIndicator(INDICATORS.find((known) => known === one) ?? "coverage");
          setUnit(null);
        }}
      />
      <NumberInput label={t("applications.value")} w={110} min={0} value={value} onChange={setValue} />
      <TextInput
        label={t("applications.unit")}
        w={150}
        maxLength={40}
        value={unit ?? expected}
        error={unit !== null && unit.trim() !== expected && t("applications.unit.differs", { unit: expected })}
        onChange={(event) => setUnit(event.currentTarget.value)}
      />
      <TextInput label={t("applications.source")} w={220} maxLength={500} value={source} onChange={(event) => setSource(event.currentTarget.value)} />
      <TextInput label={t("applications.dated")} type="date" w={140} value={dated} onChange={(event) => setDated(event.currentTarget.value)} />
      <Button type="submit" variant="default" disabled={!complete} loading={change.isPending}>
        {t("applications.read.add")}
      </Button>
      <Problem error={change.error} />
    </form>
  );
}

function NameForm({ row: { id, name } }: { row: ApplicationOut }) {
  const { t } = useI18n();
  const change = useApplicationChange();
  const [typed, setTyped] = useState(name);
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "rename", application: id, name: typed });
      }}
    >
      <TextInput label={t("design.name")} value={typed} maxLength={100} onChange={(event) => setTyped(event.currentTarget.value)} />
      <Button type="submit" variant="default" disabled={typed.trim() === "" || typed.trim() === name} loading={change.isPending}>
        {t("applications.rename")}
      </Button>
      <ConfirmButton
        size="xs"
        label={t("design.delete")}
        ariaLabel={t("design.delete_one", { name })}
        confirmation={t("applications.delete.ask", { name })}
        onConfirm={() => change.mutateAsync({ type: "delete", application: id })}
      />
      <Problem error={change.error} />
    </form>
  );
}
