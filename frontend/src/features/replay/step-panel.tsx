/** One step in full: who decided, the action, the thought, and everything that had been offered. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { Eye } from "lucide-react";

import type { BrowserPage, Proposal, Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { StepErrorText } from "@/shared/ui/episode/step-error-text";
import { ActionText } from "@/shared/ui/episode/action-text";
import { BatchBadge, BatchNote } from "@/shared/ui/episode/batch-note";
import { Badge, DecisionBadge, MarkBadge, PolicyBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { StepNotes } from "@/shared/ui/episode/step-notes";
import { PageStatus } from "@/shared/ui/episode/page-status";

import { replayCommands } from "./commands";
import styles from "./replay.module.css";

type Props = { step: Step; supervisor: string | undefined; proposals: readonly Proposal[]; count: number; onPrompt: () => void };

export function StepPanel({ step, supervisor, proposals, count, onPrompt }: Props) {
  const { t, duration } = useI18n();
  const chosen = proposals.find(({ id }) => id === step.proposal_id);
  const grammar = step.batch === null && step.decision !== "override" ? chosen?.action_text : undefined;
  return (
    <>
      <section className={styles.step}>
        <h2 className={styles.heading}>
          {t("replay.place", { number: step.index + 1, count })}
          <DecisionBadge decision={step.decision} />
          <BatchBadge batch={step.batch} />
          {step.decide_ms !== null && <span className={styles.aside}>{t("replay.decided_in", { time: duration(step.decide_ms) })}</span>}
        </h2>
        <ActionText action={step.action} {...(grammar ? { grammar } : {})} />
        <BatchNote step={step} />
        {step.thought && <p className={styles.thought}>{step.thought}</p>}
        <StepNotes step={step} supervisor={supervisor} />
        {step.error && (
          <p className={styles.error} role="note">
            <StepErrorText error={step.error} /> <code>{step.error.code}</code>
          </p>
        )}
        {step.after && <SettleTime step={step} />}
        {step.after?.page != null && <PageState page={step.after.page} />}
      </section>
      <section className={styles.offered}>
        <h2 className={styles.heading}>
          {t("replay.offered", { count: proposals.length })}
          <span className={styles.aside}>{step.policy && <PolicyBadge policy={step.policy} />}</span>
          <Tooltip label={<>{t("replay.prompt")} <CommandKey command={replayCommands.prompt} /></>}>
            <ActionIcon size="sm" aria-label={t("replay.prompt")} onClick={onPrompt}>
              <Eye size={14} />
            </ActionIcon>
          </Tooltip>
        </h2>
        <ol className={styles.proposals}>
          {proposals.map((proposal) => (
            <li key={proposal.id} className={styles.proposal} data-chosen={isTaken(proposal, step) || undefined}>
              <OfferedProposal proposal={proposal} step={step} />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

function SettleTime({ step }: { step: Step }) {
  const { t, duration } = useI18n();
  if (!step.after) return null;
  const time = duration(step.after.settle_ms);
  return (
    <p className={styles.settled}>{t(step.after.settled ? "replay.settled" : "replay.unsettled", { time })}</p>
  );
}

/** How a browser's page stood after the step, when in its own time, and what it did by itself. */
function PageState({ page }: { page: BrowserPage }) {
  const { t, duration } = useI18n();
  return (
    <>
      <p className={styles.facts}>
        <PageStatus page={page} />
        <span>{t("browser.time")}: {duration(page.time_ms)}</span>
        {page.pace > 0 && <span>{t("browser.pace")}: {page.pace}×</span>}
        <span>{page.title}</span>
      </p>
      {page.events.map(({ kind, text }, index) => (
        <p key={index} className={styles.settled}>
          <strong>{t(`browser.event.${kind}`)}</strong> {text}
        </p>
      ))}
    </>
  );
}

const isTaken = (proposal: Proposal, step: Step) => proposal.id === step.proposal_id && step.decision !== "override";

/** An override began with a candidate, but took none. */
function ProposalRank({ proposal, step }: { proposal: Proposal; step: Step }) {
  const { t, percent } = useI18n();
  const mark = markOf(proposal, step);
  return (
    <div className={styles.rank}>
      <strong>{proposal.rank}</strong>
      {proposal.likelihood !== null && <span>{percent(proposal.likelihood)}</span>}
      {proposal.count > 1 && <span>×{proposal.count}</span>}
      {isTaken(proposal, step) && <Badge tone={step.decision}>{t("replay.chosen")}</Badge>}
      {mark && <MarkBadge mark={mark} />}
    </div>
  );
}

function OfferedProposal({ proposal, step }: { proposal: Proposal; step: Step }) {
  return (
    <>
      <ProposalRank proposal={proposal} step={step} />
      {proposal.thought && <p className={styles.why}>{proposal.thought}</p>}
      {proposal.action && proposal.further_actions.length === 0 && <ActionText action={proposal.action} grammar={proposal.action_text} />}
      {proposal.action && proposal.further_actions.length > 0 && (
        <ol className={styles.actions}>
          {[proposal.action, ...proposal.further_actions].map((action, index) => (
            <li key={index}><ActionText action={action} /></li>
          ))}
        </ol>
      )}
      {proposal.error && (
        <p className={styles.error}>
          {proposal.error.message} <code>{proposal.action_text || proposal.raw_text}</code>
        </p>
      )}
    </>
  );
}

/** Marks live on the step; a proposal's own is what was known while it was open. */
function markOf(proposal: Proposal, step: Step) {
  if (step.acceptable_ids.includes(proposal.id)) return "acceptable";
  if (step.wrong_ids.includes(proposal.id)) return "wrong";
  return proposal.mark;
}
