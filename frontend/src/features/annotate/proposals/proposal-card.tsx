/** One candidate: accept it by its number, take it over to edit, or judge it. */
import { ActionIcon, Tooltip, UnstyledButton } from "@mantine/core";
import { Check, Pencil, X } from "lucide-react";
import type { ReactNode } from "react";

import type { Mark, Proposal } from "@/generated/vocabulary";
import type { Command } from "@/shared/commands/command";
import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/episode/action-text";
import { Badge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { accept, edit, fewerActions, mark, moreActions } from "@/features/annotate/commands";
import { actionsOf } from "@/features/annotate/composer";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { SafetyChecks } from "./safety-checks";
import styles from "./proposals.module.css";

export function ProposalCard({ proposal }: { proposal: Proposal }) {
  const { t } = useI18n();
  const workspace = useWorkspace();
  const { rank, thought, action, action_text: grammar } = proposal;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- only shows its marker; focus does the same
    <article
      className={styles.card}
      data-mark={proposal.mark ?? undefined}
      data-source={workspace.draft.proposalId === proposal.id || undefined}
      onMouseEnter={() => workspace.hover(proposal.id)}
      onMouseLeave={() => workspace.hover(null)}
      aria-label={t("proposals.card", { number: rank })}
    >
      <Tooltip label={<>{t("proposals.accept")} <Hint commands={accept} rank={rank} /></>}>
        <UnstyledButton
          className={styles.number}
          aria-label={t("proposals.accept_number", { number: rank })}
          disabled={!workspace.canAccept(proposal)}
          onClick={() => workspace.accept(proposal)}
          onFocus={() => workspace.hover(proposal.id)}
          onBlur={() => workspace.hover(null)}
        >
          {rank}
        </UnstyledButton>
      </Tooltip>
      <div className={styles.body}>
        <Likelihood proposal={proposal} />
        {proposal.warning !== "" && <p className={styles.warning}><Badge tone="warn">{t("proposals.doubtful")}</Badge> {proposal.warning}</p>}
        {proposal.safety_checks.length > 0 && <SafetyChecks proposal={proposal} />}
        {thought && <p className={styles.thought} title={thought}>{thought}</p>}
        {action === null && <Unreadable proposal={proposal} />}
        {action !== null && proposal.further_actions.length === 0 && <ActionText action={action} grammar={grammar} />}
        {proposal.further_actions.length > 0 && <ActionList proposal={proposal} />}
      </div>
      <div className={styles.tools}>
        <Tool label={t("proposals.edit")} hint={<Hint commands={edit} rank={rank} />} onClick={() => workspace.edit(proposal)}>
          <Pencil size={13} />
        </Tool>
        <MarkTool proposal={proposal} value="acceptable"><Check size={14} /></MarkTool>
        <MarkTool proposal={proposal} value="wrong"><X size={14} /></MarkTool>
      </div>
    </article>
  );
}

/** The actions of one reply, each with a button that does those up to it. What the action limit leaves out is drawn back. */
function ActionList({ proposal }: { proposal: Proposal }) {
  const { t } = useI18n();
  const { accept: acceptProposal, actionLimit, canAccept } = useWorkspace();
  const actions = actionsOf(proposal);
  const limit = Math.min(actionLimit ?? actions.length, actions.length);
  return (
    <>
      <p className={styles.several}>
        {limit < actions.length ? t("proposals.some_actions", { count: limit, total: actions.length }) : t("proposals.all_actions", { count: actions.length })}{" "}
        <CommandKey command={limit > 1 ? fewerActions : moreActions} />
      </p>
      <ol className={styles.actions}>
        {actions.map((action, index) => (
          <li key={index} data-left-out={index >= limit || undefined}>
            <Tooltip label={t("proposals.accept_until", { count: index + 1 })}>
              <UnstyledButton
                className={styles.until}
                aria-label={t("proposals.accept_until", { count: index + 1 })}
                disabled={!canAccept(proposal)}
                onClick={() => acceptProposal(proposal, index + 1)}
              >
                {index + 1}
              </UnstyledButton>
            </Tooltip>
            <ActionText action={action} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** How likely among those offered, and how many samples said the same. */
function Likelihood({ proposal: { likelihood, count, mark } }: { proposal: Proposal }) {
  const { t, percent } = useI18n();
  return (
    <div className={styles.meta}>
      {likelihood !== null && (
        <>
          <span className={styles.bar} aria-hidden><span style={{ width: `${100 * likelihood}%` }} /></span>
          <span title={t("proposals.likelihood")}>{percent(likelihood)}</span>
        </>
      )}
      {count > 1 && <span title={t("proposals.count", { count })}>×{count}</span>}
      {mark !== null && <Badge tone={mark === "wrong" ? "danger" : "ok"}>{t(`mark.${mark}`)}</Badge>}
    </div>
  );
}

/** What a model wrote that is no action: the reason in words, and its text as it was. */
function Unreadable({ proposal: { error, raw_text: raw } }: { proposal: Proposal }) {
  const { t } = useI18n();
  return (
    <div className={styles.unreadable}>
      <Badge tone="warn">{t("proposals.unreadable")}</Badge> <span>{error?.message}</span>
      <pre>{raw}</pre>
    </div>
  );
}

function MarkTool({ proposal, value, children }: { proposal: Proposal; value: Mark; children: ReactNode }) {
  const { t } = useI18n();
  const workspace = useWorkspace();
  const set = proposal.mark === value;
  return (
    <Tool
      label={t(`mark.${value}`)}
      hint={<Hint commands={mark} rank={proposal.rank} />}
      pressed={set}
      onClick={() => workspace.mark(proposal, set ? null : value)}
    >
      {children}
    </Tool>
  );
}

interface ToolProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly pressed?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

function Tool({ label, hint, pressed, onClick, children }: ToolProps) {
  const { canAct } = useWorkspace();
  return (
    <Tooltip label={<>{label} {hint}</>}>
      <ActionIcon
        size={24}
        aria-label={label}
        aria-pressed={pressed}
        variant={pressed === true ? "light" : "subtle"}
        disabled={!canAct}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function Hint({ commands, rank }: { commands: readonly Command[]; rank: number }) {
  const command = commands[rank - 1];
  return command === undefined ? null : <CommandKey command={command} />;
}
