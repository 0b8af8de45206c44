/** What the policy offers at this decision point, or why it offers nothing. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { Eye, NotebookText, RotateCw } from "lucide-react";

import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { PolicyBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { StatusDot } from "@/shared/ui/status-dot";
import { notes, prompt, resample } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { currentPolicy, samePolicy } from "./current-policy";
import { splitPartial } from "./partial";
import { ProposalCard } from "./proposal-card";
import { ProposalSource } from "./proposal-source";
import styles from "./proposals.module.css";

export function ProposalsPanel() {
  const { t, language } = useI18n();
  const { episode, canAct, send, setDialog } = useWorkspace();
  const cost = episode.proposals[0]?.cost_usd;
  const policy = currentPolicy(episode);
  return (
    <section className={styles.panel} aria-labelledby="proposals-title">
      <header className={styles.head}>
        <h2 id="proposals-title">{t("proposals.title")}</h2>
        <PolicyBadge policy={policy} />
        {cost != null && <span className={styles.cost} title={t("proposals.cost")}>{dollars(cost, language)}</span>}
        <Tooltip label={<>{t("workspace.prompt")} <CommandKey command={prompt} /></>}>
          <ActionIcon size="sm" aria-label={t("workspace.prompt")} onClick={() => setDialog("prompt")}>
            <Eye size={14} />
          </ActionIcon>
        </Tooltip>
        {(episode.noting !== "off" || episode.memories.length > 0) && (
          <Tooltip label={<>{t("workspace.notes")} <CommandKey command={notes} /></>}>
            <ActionIcon size="sm" aria-label={t("workspace.notes")} onClick={() => setDialog("notes")}>
              <NotebookText size={14} />
            </ActionIcon>
          </Tooltip>
        )}
        <Tooltip label={<>{t("workspace.resample")} <CommandKey command={resample} /></>}>
          <ActionIcon
            size="sm"
            aria-label={t("workspace.resample")}
            disabled={!canAct || episode.thinking === "off"}
            onClick={() => send({ type: "resample" })}
          >
            <RotateCw size={14} />
          </ActionIcon>
        </Tooltip>
      </header>
      {samePolicy(policy, episode.policy) && <ProposalSource episode={episode} />}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- so that it can be scrolled by keys while its buttons are disabled */}
      <div className={styles.list} role="group" aria-labelledby="proposals-title" tabIndex={0} aria-live="polite" aria-busy={episode.thinking === "waiting" || episode.thinking === "streaming"}>
        {episode.proposals.length > 0
          ? episode.proposals.map((proposal) => <ProposalCard key={proposal.id} proposal={proposal} />)
          : <ProposalsPlaceholder />}
      </div>
    </section>
  );
}

/** Why there is no candidate: on its way, the model is down, the pool has none, or they were withdrawn. */
function ProposalsPlaceholder() {
  const { t } = useI18n();
  const { episode, view } = useWorkspace();
  const { thinking } = episode;
  if (episode.takeover) return <p className={styles.note}><StatusDot tone="off">{t("proposals.takeover")}</StatusDot></p>;
  if (episode.status !== "running") return null;
  if (view.partials.length > 0) {
    return view.partials.map(({ index, text }) => <Streaming key={index} index={index} text={text} />);
  }
  if (episode.pending !== null) {
    const { batch } = episode.pending;
    const words = batch === null ? t("proposals.acting") : t("proposals.acting_several", { index: batch.index, size: batch.size });
    return <p className={styles.note}><StatusDot tone="busy" pulse>{words}</StatusDot></p>;
  }
  if (thinking === "waiting" || thinking === "streaming") {
    return (
      <div className={styles.note}>
        <StatusDot tone="busy" pulse>{t("proposals.waiting")}</StatusDot>
        <span className={styles.skeleton} />
        <span className={styles.skeleton} />
      </div>
    );
  }
  if (thinking === "failed") return <Failure code={episode.thinking_code} error={episode.thinking_error} />;
  if (thinking === "off") return <p className={styles.note}><StatusDot tone="off">{t("proposals.off")}</StatusDot></p>;
  return (
    <p className={styles.note}>
      <StatusDot tone="off">{t(view.withdrawn === null ? "proposals.none" : `proposals.withdrawn.${view.withdrawn}`)}</StatusDot>
    </p>
  );
}

/** Why the model proposed nothing, and who can help. */
function Failure({ code, error }: { code: string; error: string }) {
  const { t } = useI18n();
  return (
    <div className={styles.note} role="alert">
      <StatusDot tone="danger">{t("proposals.failed")}</StatusDot>
      <p>{t(code === "budget_spent" ? "proposals.budget_spent" : "proposals.failed.help")}</p>
      {error && <code>{error}</code>}
    </div>
  );
}

function Streaming({ index, text }: { index: number; text: string }) {
  const { thought, action } = splitPartial(text);
  return (
    <div className={styles.streaming}>
      <span className={styles.number} aria-hidden>{index + 1}</span>
      <p className={styles.thought}>{thought}<span className={styles.cursor} /></p>
      {action !== "" && <code>{action}</code>}
    </div>
  );
}
