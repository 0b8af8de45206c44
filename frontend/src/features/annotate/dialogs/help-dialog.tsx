/** Asks an admin to look; the episode goes on. */
import { Textarea } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

export function HelpDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { send } = useWorkspace();
  const [message, setMessage] = useState("");
  const submit = () => {
    send({ type: "help", message });
    onDone();
  };
  return (
    <DialogForm submit={t("workspace.call_help")} disabled={message.trim() === ""} onSubmit={submit}>
      <Textarea
        label={t("help.message")}
        description={t("help.message.help")}
        value={message}
        onChange={(event) => setMessage(event.currentTarget.value)}
        maxLength={2_000}
        autosize
        minRows={3}
        maxRows={8}
        data-autofocus
      />
    </DialogForm>
  );
}
