/** Refining thoughts with a registered model: start, progress, and what is taken of it, by sentence. */
import { Button, Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { RefinedThought, RefinementOut, SpeechOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";

import { refinementQuery, useRefinement, type useSpeechChange } from "./api";
import { ModelBar } from "./model-bar";
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

function StartBar({ episodeId, refinement: { job, models, policy } }: { episodeId: string; refinement: RefinementOut }) {
  const { t } = useI18n();
  const action = useRefinement(episodeId);
  return (
    <ModelBar
      name={t("speech.refinement")}
      startLabel={t("speech.refinement.start")}
      job={job}
      policy={policy}
      models={models}
      isPending={action.isPending}
      error={action.error}
      onStart={(chosen) => action.mutate({ policy: chosen })}
      onCancel={(cancel) => action.mutate({ cancel })}
    />
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
