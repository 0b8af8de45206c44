/** Has a model write of the thoughts of many recorded sessions: starts a batch, and shows how each session stands. */
import { Button, Group, Progress, Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { BatchIn, BatchSummary } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { batchesQuery, batchQuery, isUnderWay, useBatch } from "./api";
import styles from "./batches.module.css";

const KINDS = ["refinement", "enriched", "diversified"] as const satisfies BatchIn["kind"][];

type Props = {
  /** The sessions that are chosen; none: all that match. */
  readonly chosen: readonly string[];
  readonly filters?: BatchIn["filters"];
  /** How many all are; nothing where there is no all. */
  readonly all?: string;
};

/** A button for those who may have a model write; nothing for others. */
export function BatchButton(props: Props) {
  const { t } = useI18n();
  const user = useUser();
  const [opened, setOpened] = useState(false);
  if (!hasRole(user, "reviewer") && !hasRole(user, "researcher")) return null;
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {t("speech.batch.open")}
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={t("speech.batch.title")} size="lg">
        <BatchDialog {...props} />
      </Dialog>
    </>
  );
}

function BatchDialog({ chosen, filters, all }: Props) {
  const { t } = useI18n();
  const { data, error } = useQuery(batchesQuery);
  const change = useBatch();
  const [kind, setKind] = useState<BatchIn["kind"]>("refinement");
  const [policy, setPolicy] = useState<string | null>(null);
  const isAll = chosen.length === 0;
  const start = () => {
    const scope = isAll ? { filters: filters ?? {} } : { episodes: [...chosen] };
    change.mutate({ start: { kind, policy: Number(policy), ...scope } });
  };
  if (error) return <Problem error={error} />;
  if (!data) return null;
  return (
    <Stack gap="sm">
      <p className={styles.note}>{isAll ? (all ?? t("speech.batch.choose")) : t("speech.batch.chosen", { count: chosen.length })}</p>
      {data.models.length === 0 && <p className={styles.note}>{t("speech.refinement.no_model")}</p>}
      <Group gap="sm" align="end">
        <Select
          label={t("speech.batch.kind")}
          allowDeselect={false}
          data={KINDS.map((value) => ({ value, label: t(`speech.batch.${value}`) }))}
          value={kind}
          onChange={(next) => setKind(KINDS.find((known) => known === next) ?? kind)}
        />
        <Select
          label={t("speech.refinement.model")}
          data={data.models.map(({ id, label }) => ({ value: String(id), label }))}
          value={policy}
          onChange={setPolicy}
        />
        <Button disabled={policy === null || (isAll && all === undefined)} loading={change.isPending} onClick={start}>
          {t("speech.batch.start")}
        </Button>
      </Group>
      <Problem error={change.error} />
      {data.batches.map((batch) => (
        <Batch key={batch.id} batch={batch} change={change} />
      ))}
    </Stack>
  );
}

function Batch({ batch, change }: { batch: BatchSummary; change: ReturnType<typeof useBatch> }) {
  const { t, moment } = useI18n();
  const [opened, setOpened] = useState(false);
  const { id, kind, model, total, done, failed, left_out, status, error } = batch;
  const mayResume = !isUnderWay(batch) && done < total;
  return (
    <section className={styles.batch} aria-label={`${t(`speech.batch.${kind}`)}, ${moment(batch.created_at)}`}>
      <div className={styles.row}>
        <strong>{t(`speech.batch.${kind}`)}</strong> {model} · {moment(batch.created_at)}
        <span role="status">{t(`speech.batch.status.${status}`, { done, total })}</span>
        {failed > 0 && <span>{t("speech.batch.failed", { count: failed })}</span>}
        {left_out > 0 && <span className={styles.note}>{t("speech.batch.left_out", { count: left_out })}</span>}
        {error && <span>{error}</span>}
      </div>
      {isUnderWay(batch) && <Progress aria-label={t("speech.batch.progress")} value={(100 * done) / Math.max(1, total)} />}
      <div className={styles.row}>
        {isUnderWay(batch) && (
          <Button size="compact-xs" variant="default" onClick={() => change.mutate({ id, change: "cancel" })}>
            {t("speech.refinement.cancel")}
          </Button>
        )}
        {mayResume && (
          <Button size="compact-xs" variant="default" onClick={() => change.mutate({ id, change: "resume" })}>
            {t("speech.refinement.resume")}
          </Button>
        )}
        <Button size="compact-xs" variant="subtle" aria-expanded={opened} onClick={() => setOpened(!opened)}>
          {t("speech.batch.sessions", { count: total })}
        </Button>
      </div>
      {opened && <Sessions id={id} />}
    </section>
  );
}

function Sessions({ id }: { id: string }) {
  const { t } = useI18n();
  const { data, error } = useQuery(batchQuery(id));
  if (error) return <Problem error={error} />;
  return (
    <ol>
      {data?.sessions.map((one) => (
        <li key={one.episode}>
          <Link to={`/episodes/${one.episode}`}>{one.instruction}</Link> · {t(`speech.refinement.${one.status}`, { done: one.done, total: one.total })} {one.error}
        </li>
      ))}
    </ol>
  );
}
