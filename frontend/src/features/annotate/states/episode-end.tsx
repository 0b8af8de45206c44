/** After the end: the person's outcome beside the verifier's verdict, both kept, and the way to the next task. */
import { Button } from "@mantine/core";
import { Scale } from "lucide-react";
import { useEffect } from "react";
import { useNavigate } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { disagree, OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { leave, next } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { useNextTask } from "@/features/annotate/use-next-task";

import styles from "./states.module.css";

interface Props {
  /** The episode after which the next task was claimed; kept above, since this ends while a past step is looked at. */
  readonly claimedAfter: string;
  readonly onClaim: (episode: string) => void;
}

export function EpisodeEnd({ claimedAfter, onClaim }: Props) {
  const { t } = useI18n();
  const { episode, view, claimsNext, setDialog } = useWorkspace();
  const { claimNext, busy, queueEmpty, error } = useNextTask(episode.id);
  const navigate = useNavigate();
  useEffect(() => {
    if (!claimsNext || claimedAfter === episode.id) return;
    onClaim(episode.id);
    claimNext();
  }, [claimsNext, claimNext, claimedAfter, onClaim, episode.id]);
  return (
    <section className={styles.episodeEnd} aria-label={t("ended.title")}>
      <h2>{t(`ended.${endState(episode.status)}`)}</h2>
      {episode.status === "left" && episode.error !== "" && <p>{t("ended.lost")}</p>}
      {episode.status === "failed" && <p>{episode.error || t("ended.failed.why")}</p>}
      {episode.status === "failed" && <p>{t("ended.failed.help")}</p>}
      {episode.status === "finished" && <Judgements />}
      {queueEmpty && <p role="status">{t("ended.nothing", { pool: episode.pool })}</p>}
      {error !== "" && <p role="alert" className={styles.problem}>{error}</p>}
      <div className={styles.buttons}>
        <Button loading={busy} onClick={claimNext} rightSection={<CommandKey command={next} />}>{t("workspace.next")}</Button>
        {episode.status === "failed" && view.control === "mine" && (
          <Button variant="default" onClick={() => setDialog("leave")} rightSection={<CommandKey command={leave} />}>{t("workspace.leave")}</Button>
        )}
        <Button variant="default" onClick={() => void navigate("/queue")}>{t("ended.queue")}</Button>
      </div>
    </section>
  );
}

function Judgements() {
  const { t, percent } = useI18n();
  const { outcome, verdict, task, answer } = useWorkspace().episode;
  const verdictComing = verdict === null && task.suite !== null;
  return (
    <>
      <dl className={styles.judgements}>
        <div>
          <dt>{t("ended.you")}</dt>
          <dd><OutcomeBadge outcome={outcome} /></dd>
          {answer !== "" && <dd>{t("ended.answer", { answer })}</dd>}
        </div>
        <div>
          <dt>{t("ended.verifier")}</dt>
          <dd>{verdictComing ? t("ended.checking") : <VerdictBadge verdict={verdict} />}</dd>
          {verdict !== null && <dd>{percent(verdict.score)} {verdict.reason}</dd>}
        </div>
      </dl>
      {disagree(outcome, verdict) && (
        <p className={styles.disagree} role="alert">
          <Scale size={16} aria-hidden />
          <span><strong>{t("verdict.disagrees")}.</strong> {t("ended.disagree.help")}</span>
        </p>
      )}
    </>
  );
}

function endState(status: string): "finished" | "left" | "failed" {
  return status === "left" || status === "failed" ? status : "finished";
}
