/** Other wordings of a task by a model: asked for, then accepted, edited or rejected one by one. */
import { Button, NumberInput, Select, Textarea } from "@mantine/core";
import { useState } from "react";

import type { DesignPage, PlacedTask, SuggestionOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";

type Props = { readonly task: PlacedTask; readonly writers: DesignPage["writers"] };

export function Wordings({ task: { id, writing }, writers }: Props) {
  const { t } = useI18n();
  const change = useChange();
  if (writers.length === 0) return <p className={styles.note}>{t("design.no_writers")}</p>;
  const runningId = writing?.status === "queued" || writing?.status === "running" ? writing.id : null;
  return (
    <section aria-label={t("design.wordings")} className={styles.stack}>
      <RewordingForm task={id} writers={writers} runningId={runningId} change={change} />
      <div role="status" className={styles.note}>
        {runningId !== null && t("design.writing")}
        {writing?.status === "failed" && t("design.writing.failed", { why: writing.error })}
      </div>
      <Problem error={change.error} />
      <ul className={styles.tasks}>
        {writing?.suggestions.map((one) => (
          <Suggestion key={one.id} suggestion={one} change={change} />
        ))}
      </ul>
    </section>
  );
}

type RewordingFormProps = {
  readonly task: number;
  readonly writers: DesignPage["writers"];
  readonly runningId: string | null;
  readonly change: ReturnType<typeof useChange>;
};

function RewordingForm({ task, writers, runningId, change }: RewordingFormProps) {
  const { t } = useI18n();
  const [chosen, setWriter] = useState("");
  const [count, setCount] = useState(5);
  const writer = writers.find(({ id }) => String(id) === chosen) ?? writers[0];
  if (!writer) return null;
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "word", task, writer: writer.id, count });
      }}
    >
      <Select
        label={t("design.writer")}
        allowDeselect={false}
        data={writers.map((one) => ({ value: String(one.id), label: one.name }))}
        value={String(writer.id)}
        onChange={(value) => value !== null && setWriter(value)}
      />
      <ConfirmButton
        size="xs"
        label={t("design.writer.delete")}
        confirmation={t("design.writer.delete.ask", { name: writer.name })}
        onConfirm={() => change.mutateAsync({ type: "delete_writer", writer: writer.id })}
      />
      <NumberInput label={t("design.count")} w={100} min={1} max={20} value={count} onChange={(value) => setCount(Number(value))} />
      {runningId === null ? (
        <Button type="submit" variant="default" loading={change.isPending}>
          {t("design.ask")}
        </Button>
      ) : (
        <Button variant="default" onClick={() => change.mutate({ type: "cancel", writing: runningId })}>
          {t("design.cancel")}
        </Button>
      )}
    </form>
  );
}

function Suggestion({ suggestion: { id, text }, change }: { suggestion: SuggestionOut; change: ReturnType<typeof useChange> }) {
  const { t } = useI18n();
  const [edited, setEdited] = useState(text);
  return (
    <li className={styles.suggestion}>
      <Textarea
        aria-label={t("design.wording")}
        autosize
        minRows={1}
        maxLength={2_000}
        value={edited}
        onChange={(event) => setEdited(event.currentTarget.value)}
      />
      <Button
        size="compact-sm"
        disabled={edited.trim().length < 3}
        onClick={() => change.mutate({ type: "accept", suggestion: id, text: edited })}
      >
        {t(edited === text ? "design.accept" : "design.accept_edited")}
      </Button>
      <ConfirmButton
        size="compact-sm"
        label={t("design.reject")}
        confirmation={t("design.reject.ask", { text })}
        onConfirm={() => change.mutateAsync({ type: "reject", suggestion: id })}
      />
    </li>
  );
}
