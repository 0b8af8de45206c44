/** What supervisors tell the annotator; a supervisor who watches writes it here. */
import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { useTexts } from "@/session/use-texts";
import { hasRole, useSessionUser } from "@/shared/account/account";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./states.module.css";

/** How often notes are asked for while help is wanted (milliseconds). */
const POLL_MS = 4_000;

/** Nothing until help is asked for. */
export function SupervisorNotes() {
  const { view } = useWorkspace();
  const { id, help_requested: wanted } = view.episode;
  return wanted ? <Notes id={id} hasControl={view.control === "mine"} /> : null;
}

const pathOf = (episode: string) => `/episodes/${encodeURIComponent(episode)}/notes` as const;

function Notes({ id, hasControl }: { id: string; hasControl: boolean }) {
  const { t } = useI18n();
  const user = useSessionUser();
  const notes = useQuery({
    queryKey: ["episode", id, "notes"],
    queryFn: () => request("GET", pathOf(id)),
    refetchInterval: POLL_MS,
  });
  const items = notes.data ?? [];
  const watches = !hasControl && user != null && hasRole(user, "reviewer");
  return (
    <>
      {items.length > 0 && (
        <div className={styles.banner} data-tone="info">
          <ul className={styles.notes} aria-label={t("notes.label")}>
            {items.map(({ id, author, text, took_control }) => (
              <li key={id}>
                {took_control ? t("notes.control", { name: author }) : <><strong>{t("notes.by", { name: author })}</strong> {text}</>}
              </li>
            ))}
          </ul>
        </div>
      )}
      {watches && <NoteForm episodeId={id} />}
    </>
  );
}

function NoteForm({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const client = useQueryClient();
  const { drafts } = useWorkspace();
  const { texts: { text }, change, clearSent } = useTexts(drafts, episodeId, "note", { text: "" });
  const send = useMutation({
    mutationFn: (text: string) => request("POST", pathOf(episodeId), { text: text.trim() }),
    onSuccess: (_, text) => {
      clearSent({ text });
      return client.invalidateQueries({ queryKey: ["episode", episodeId, "notes"] });
    },
  });
  return (
    <form
      className={styles.banner}
      data-tone="info"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "" && !send.isPending) send.mutate(text);
      }}
    >
      {t("notes.help_wanted")}
      <TextInput
        size="xs"
        aria-label={t("notes.write")}
        placeholder={t("notes.write")}
        maxLength={2_000}
        value={text}
        onChange={(event) => change({ text: event.currentTarget.value })}
      />
      <Button type="submit" size="compact-xs" disabled={text.trim() === ""} loading={send.isPending}>
        {t("notes.send")}
      </Button>
      <Problem error={send.error} />
    </form>
  );
}
