/** The policy's notes on steps it no longer reads in full, to be read and put right. */
import { Button, Textarea } from "@mantine/core";

import type { Memory } from "@/generated/vocabulary";
import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";
import { StatusDot } from "@/shared/ui/status-dot";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./memory.module.css";

export function NotesDialog() {
  const { t } = useI18n();
  const { memories } = useWorkspace().episode;
  return (
    <div className={styles.notes}>
      <p className={styles.help}>{t("notes.help")}</p>
      <NotesStatus />
      {memories.map((memory) => (
        <Note key={`${memory.through} ${memory.text}`} memory={memory} span={spanOf(memories, memory)} />
      ))}
    </div>
  );
}

/** Why there is no note yet, or that one is on its way. */
function NotesStatus() {
  const { t } = useI18n();
  const { memories, noting, noting_error: error, noting_policy: author } = useWorkspace().episode;
  const none = memories.length === 0;
  return (
    <div role="status">
      {noting === "writing" && <StatusDot tone="busy" pulse>{t("notes.writing")}</StatusDot>}
      {noting === "failed" && (
        <>
          <StatusDot tone="danger">{t("notes.failed")}</StatusDot> {author && <PolicyBadge policy={author} />}
          {error !== "" && <code className={styles.error}>{error}</code>}
        </>
      )}
      {noting === "off" && <StatusDot tone="off">{t(none ? "notes.off" : "notes.off_now")}</StatusDot>}
      {noting === "idle" && none && <StatusDot tone="off">{t("notes.none")}</StatusDot>}
    </div>
  );
}

const MAX_LENGTH = 4_000;

/** One note; what was put right keeps the policy's own words beside it. */
function Note({ memory, span: [first, last] }: { memory: Memory; span: readonly [number, number] }) {
  const { t } = useI18n();
  const { canAct, send, drafts, episode } = useWorkspace();
  const { through, original } = memory;
  const { texts: { text }, change, clear } = useTexts(drafts, episode.id, `memory.${through}`, { text: memory.text });
  const changed = text.trim() !== "" && text !== memory.text;
  const revise = (words: string) => {
    clear(); // first: what cannot be sent is given back
    send({ type: "remember", through, text: words });
  };
  return (
    <form
      className={styles.note}
      onSubmit={(event) => {
        event.preventDefault();
        if (changed) revise(text);
      }}
    >
      <Textarea
        label={t("notes.of", { first: first + 1, last: last + 1 })}
        value={text}
        onChange={(event) => change({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && changed) revise(text);
        }}
        readOnly={!canAct}
        maxLength={MAX_LENGTH}
        autosize
        minRows={2}
        maxRows={12}
      />
      <div className={styles.buttons}>
        {memory.revised && <Badge tone="edit">{t("notes.revised")}</Badge>}
        <span className={styles.space} />
        {text !== memory.text && <Button size="compact-sm" variant="subtle" onClick={clear}>{t("notes.discard")}</Button>}
        {original !== null && <Button size="compact-sm" variant="default" disabled={!canAct} onClick={() => revise(original)}>{t("notes.undo")}</Button>}
        <Button size="compact-sm" type="submit" disabled={!canAct || !changed}>{t("notes.save")}</Button>
      </div>
      {original !== null && (
        <details>
          <summary>{t("notes.original")}</summary>
          <p className={styles.original}>{original}</p>
        </details>
      )}
    </form>
  );
}

/** The indices of the first and the last step of a note: it goes on where the note before it ended. */
export function spanOf(memories: readonly Memory[], memory: Memory): readonly [number, number] {
  const before = memories[memories.indexOf(memory) - 1];
  return [before === undefined ? 0 : before.through + 1, memory.through];
}
