/** Chooses the model that writes, starts it, and shows how far it is. */
import { Button, Progress, Select } from "@mantine/core";
import { useState } from "react";

import type { JobOut, RefiningModel } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { isWriting } from "./api";
import styles from "./speech.module.css";

type Props = {
  /** What it writes. */
  readonly name: string;
  readonly startLabel: string;
  readonly job: JobOut | null;
  /** The model of that job. */
  readonly policy: number | null;
  readonly models: readonly RefiningModel[];
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onStart: (policy: number) => void;
  readonly onCancel: (job: string) => void;
};

export function ModelBar({ name, startLabel, job, policy, models, isPending, error, onStart, onCancel }: Props) {
  const { t } = useI18n();
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen ?? (policy === null ? null : String(policy));
  if (models.length === 0) return <p className={styles.none}>{t("speech.refinement.no_model")}</p>;
  return (
    <>
      <div className={styles.buttons}>
        <Select
          size="xs"
          aria-label={`${name}: ${t("speech.refinement.model")}`}
          placeholder={t("speech.refinement.model")}
          data={models.map(({ id, label }) => ({ value: String(id), label }))}
          value={model}
          onChange={setChosen}
        />
        {job && isWriting(job) ? (
          <Button size="compact-xs" variant="default" onClick={() => onCancel(job.id)}>
            {t("speech.refinement.cancel")}
          </Button>
        ) : (
          <Button size="compact-xs" disabled={model === null} loading={isPending} onClick={() => onStart(Number(model))}>
            {isBroken(job) && model === String(policy) ? t("speech.refinement.resume") : startLabel}
          </Button>
        )}
        {job && <JobState job={job} />}
      </div>
      {job && isWriting(job) && <Progress aria-label={name} value={(100 * job.done) / Math.max(1, job.total)} />}
      <Problem error={error} />
    </>
  );
}

const isBroken = (job: JobOut | null) => job?.status === "failed" || job?.status === "cancelled";

function JobState({ job: { status, done, total, error } }: { job: JobOut }) {
  const { t } = useI18n();
  return (
    <span role="status">
      {t(`speech.refinement.${status}`, { done, total })} {error}
    </span>
  );
}
