/** Refining thoughts with a registered model: start, progress, and what is taken of it, by sentence. */
import { Button, Checkbox, Progress, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { JobOut, RefinedThought, RefinementOut, SpeechOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";

import { isRefining, refinementQuery, useRefinement, type useSpeechChange } from "./api";
import styles from "./speech.module.css";

type Props = { episodeId: string; speech: SpeechOut; place: number; change: ReturnType<typeof useSpeechChange> };

/** Nothing for annotators: a refinement is for those who review. */
export function RefinementPanel({ episodeId, speech, place, change }: Props) {
  const { t } = useI18n();
  const user = useUser();
  const mayStart = hasRole(user, "reviewer") || hasRole(user, "researcher");
  const { data, error } = useQuery({ ...refinementQuery(episodeId), enabled: mayStart });
  if (!mayStart) return null;
  if (error) return <Problem error={error} />;
  if (!data) return null;
  const refined = data.thoughts.find(({ thought }) => thought === place);
  const isCurrent = refined !== undefined && refined.original === speech.thoughts[place]?.text;
  return (
    <details className={styles.history} open={data.job !== null}>
      <summary>{t("speech.refinement")}</summary>
      <div className={styles.form}>
        <StartBar episodeId={episodeId} refinement={data} />
        {isCurrent && <RefinedSentences key={`${place} ${refined.original}`} refined={refined} speech={speech} change={change} />}
      </div>
    </details>
  );
}

const isBroken = (job: JobOut | null) => job?.status === "failed" || job?.status === "cancelled";

function StartBar({ episodeId, refinement }: { episodeId: string; refinement: RefinementOut }) {
  const { t } = useI18n();
  const { job, models, policy } = refinement;
  const action = useRefinement(episodeId);
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen ?? (policy === null ? null : String(policy));
  if (models.length === 0) return <p className={styles.none}>{t("speech.refinement.no_model")}</p>;
  return (
    <>
      <div className={styles.buttons}>
        <Select
          size="xs"
          aria-label={t("speech.refinement.model")}
          placeholder={t("speech.refinement.model")}
          data={models.map(({ id, label }) => ({ value: String(id), label }))}
          value={model}
          onChange={setChosen}
        />
        {job && isRefining(refinement) ? (
          <Button size="compact-xs" variant="default" onClick={() => action.mutate({ cancel: job.id })}>
            {t("speech.refinement.cancel")}
          </Button>
        ) : (
          <Button size="compact-xs" disabled={model === null} loading={action.isPending} onClick={() => action.mutate({ policy: Number(model) })}>
            {t(isBroken(job) && model === String(policy) ? "speech.refinement.resume" : "speech.refinement.start")}
          </Button>
        )}
        {job && <JobState job={job} />}
      </div>
      {job && isRefining(refinement) && <Progress aria-label={t("speech.refinement")} value={(100 * job.done) / Math.max(1, job.total)} />}
      <Problem error={action.error} />
    </>
  );
}

function JobState({ job: { status, done, total, error } }: { job: JobOut }) {
  const { t } = useI18n();
  return (
    <span role="status">
      {t(`speech.refinement.${status}`, { done, total })} {error}
    </span>
  );
}

/** Added sentences are taken only where somebody chooses them. */
function RefinedSentences({ refined, speech, change }: { refined: RefinedThought } & Pick<Props, "speech" | "change">) {
  const { t } = useI18n();
  const [taken, setTaken] = useState<readonly number[]>(refined.sentences.flatMap(({ support }, index) => (support === "added" ? [] : [index])));
  const toggle = (index: number) => setTaken(taken.includes(index) ? taken.filter((one) => one !== index) : [...taken, index]);
  const accept = () => change.mutate({ type: "accept", base: speech.revision, thoughts: [{ thought: refined.thought, sentences: [...taken] }] });
  return (
    <>
      {refined.problem && <p className={styles.none}>{t("speech.refinement.problem", { problem: refined.problem })}</p>}
      {refined.sentences.map(({ text, support }, index) => (
        <div key={index} className={styles.buttons}>
          <Checkbox size="xs" label={text} checked={taken.includes(index)} disabled={!speech.may_edit} onChange={() => toggle(index)} />
          <Badge tone={support === "added" ? "warn" : "neutral"}>{t(`speech.support.${support}`)}</Badge>
        </div>
      ))}
      {speech.may_edit && (
        <Button size="compact-xs" variant="default" disabled={taken.length === 0 || change.isPending} onClick={accept} style={{ alignSelf: "start" }}>
          {t("speech.refinement.accept")}
        </Button>
      )}
    </>
  );
}
