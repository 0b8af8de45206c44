/** Asks an admin to look; the episode goes on. */
import { Textarea } from "@mantine/core";

import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

export function HelpDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { send, drafts, episode } = useWorkspace();
  const { texts: { message }, change, clear } = useTexts(drafts, episode.id, "help", { message: "" });
  const submit = () => {
    clear();
    send({ type: "help", message });
    onDone();
  };
  return (
    <DialogForm submit={t("workspace.call_help")} disabled={message.trim() === ""} onSubmit={submit}>
      <Textarea
        label={t("help.message")}
        description={t("help.message.help")}
        value={message}
        onChange={(event) => change({ message: event.currentTarget.value })}
        maxLength={2_000}
        autosize
        minRows={3}
        maxRows={8}
        data-autofocus
      />
    </DialogForm>
  );
}
