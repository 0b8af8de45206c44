/** A draft: what it says, when it is done, who wrote it, and what says the same beside it. */
import { Button, Checkbox } from "@mantine/core";

import type { DraftMatch, DraftOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./drafts.module.css";

type Props = {
  readonly draft: DraftOut;
  readonly admin: boolean;
  readonly isChosen: boolean;
  readonly onChoose: (on: boolean) => void;
  readonly onEdit: () => void;
  readonly onReopen: () => void;
};

export function DraftItem({ draft, admin, isChosen, onChoose, onEdit, onReopen }: Props) {
  const { t } = useI18n();
  const { content, state } = draft;
  const decides = admin && state === "waiting";
  return (
    <>
      <div className={styles.head}>
        {decides && (
          <Checkbox
            size="xs"
            aria-label={t("drafts.choose_one", { text: content.text })}
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
        )}
        <p className={styles.text}>{content.text}</p>
        {decides && (
          <Button size="compact-xs" variant="subtle" aria-label={t("drafts.edit_one", { text: content.text })} onClick={onEdit}>
            {t("design.edit")}
          </Button>
        )}
        {admin && state === "rejected" && (
          <Button size="compact-xs" variant="subtle" aria-label={t("drafts.reopen_one", { text: content.text })} onClick={onReopen}>
            {t("drafts.reopen")}
          </Button>
        )}
      </div>
      <Facts draft={draft} />
      <Statements title={t("drafts.preconditions")} statements={content.preconditions ?? []} />
      <Statements title={t("drafts.criteria")} statements={content.criteria} />
      {draft.original && (
        <p className={styles.note}>
          {t("drafts.original")} <q>{draft.original}</q>
        </p>
      )}
      <Matches text={content.text} matches={draft.matches} />
    </>
  );
}

function Facts({ draft: { content, ...draft } }: { draft: DraftOut }) {
  const { t } = useI18n();
  return (
    <div className={styles.facts}>
      <Badge tone="policy">{t(`drafts.expertise.${content.expertise}`)}</Badge>
      <Badge tone={draft.level_contradicted ? "warn" : "neutral"} title={draft.level_contradicted ? t("drafts.contradicted.help") : undefined}>
        {t(draft.level_contradicted ? "drafts.contradicted" : "design.level", { level: draft.level })}
      </Badge>
      <Badge tone="neutral">{content.applications.join(" + ")}</Badge>
      {draft.state === "accepted" && <Badge tone="ok">{draft.pool ? t("drafts.in_pool", { pool: draft.pool }) : t("drafts.state.accepted")}</Badge>}
      {draft.state === "rejected" && <Badge tone="danger">{t("drafts.rejected_for", { reason: draft.reason })}</Badge>}
      <span className={styles.note} title={draft.prompt_sha256 ? t("drafts.prompt", { digest: draft.prompt_sha256.slice(0, 12) }) : undefined}>
        {draft.writer && draft.author
          ? t("drafts.by_both", { writer: draft.writer, author: draft.author })
          : t("drafts.by", { author: draft.writer || draft.author })}
        {content.persona && ` · ${t("drafts.for", { persona: content.persona })}`}
      </span>
    </div>
  );
}

function Statements({ title, statements }: { title: string; statements: readonly string[] }) {
  if (statements.length === 0) return null;
  return (
    <div className={styles.statements}>
      <span className={styles.note}>{title}</span>
      <ul>
        {statements.map((statement) => (
          <li key={statement}>{statement}</li>
        ))}
      </ul>
    </div>
  );
}

/** What says the same, each beside the draft's own text. */
export function Matches({ text, matches }: { text: string; matches: readonly DraftMatch[] }) {
  const { t, percent } = useI18n();
  if (matches.length === 0) return null;
  return (
    <details className={styles.matches} open>
      <summary>{t("drafts.matches", { count: matches.length })}</summary>
      {matches.map(({ kind, id, text: other, similarity }) => (
        <div key={`${kind} ${id}`} className={styles.comparison}>
          <div>
            <span className={styles.note}>{t("drafts.this_one")}</span>
            <p>{text}</p>
          </div>
          <div>
            <span className={styles.note}>
              {t(`drafts.match.${kind}`, { id })} · {percent(similarity)}
            </span>
            <p>{other}</p>
          </div>
        </div>
      ))}
    </details>
  );
}
