/** What covers the stage: warming up, paused, ended, failed; or a word on the past step being looked at. */
import { Button, Loader } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/episode/action-text";
import { StepNotes } from "@/shared/ui/episode/step-notes";
import { BatchBadge } from "@/shared/ui/episode/batch-note";
import { Badge, DecisionBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { live, pause } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { Banners } from "./banners";
import { EpisodeEnd } from "./episode-end";
import styles from "./states.module.css";

export function ViewportOverlay() {
  const { episode, viewedStep } = useWorkspace();
  const [claimedAfter, setClaimedAfter] = useState("");
  return (
    <>
      <Banners />
      <PastStep />
      {episode.status === "warming" && <Warming />}
      {episode.status === "paused" && <Paused />}
      {viewedStep === null && (episode.status === "finished" || episode.status === "left" || episode.status === "failed") && <EpisodeEnd claimedAfter={claimedAfter} onClaim={setClaimedAfter} />}
    </>
  );
}

function Warming() {
  const { t } = useI18n();
  const { branch_of: branch, error } = useWorkspace().episode;
  if (error !== "") {
    return (
      <div className={styles.cover} role="status">
        <Loader size="sm" aria-hidden />
        <strong>{t("state.no_machine")}</strong>
        <span>{t("state.no_machine.help", { reason: error })}</span>
      </div>
    );
  }
  return (
    <div className={styles.cover} role="status">
      <Loader size="sm" aria-hidden />
      <strong>{t(branch === null ? "state.warming" : "branch.warming")}</strong>
      <span>{branch === null ? t("state.warming.help") : t("branch.warming.help", { steps: t("branch.steps", { count: branch.steps }) })}</span>
    </div>
  );
}

function Paused() {
  const { t } = useI18n();
  const { send, view } = useWorkspace();
  return (
    <div className={styles.cover} role="status">
      <strong>{t("state.paused")}</strong>
      <span>{t("state.paused.help")}</span>
      <Button disabled={view.control !== "mine"} onClick={() => send({ type: "pause", on: false })} rightSection={<CommandKey command={pause} />}>
        {t("state.resume")}
      </Button>
    </div>
  );
}

function PastStep() {
  const { t } = useI18n();
  const { episode, viewedStep, viewStep } = useWorkspace();
  const step = viewedStep === null ? undefined : episode.steps[viewedStep];
  if (step === undefined) return null;
  return (
    <div className={styles.past} role="status">
      <strong>{t("timeline.step", { number: step.index + 1 })}</strong>
      <DecisionBadge decision={step.decision} />
      {step.undone && <Badge tone="neutral" title={t("timeline.undone.help")}>{t("timeline.undone")}</Badge>}
      <BatchBadge batch={step.batch} />
      <ActionText action={step.action} />
      {step.thought && <span className={styles.pastThought}>{step.thought}</span>}
      <StepNotes step={step} />
      <Button size="compact-xs" onClick={() => viewStep(null)} rightSection={<CommandKey command={live} />}>
        {t("workspace.live")}
      </Button>
    </div>
  );
}
