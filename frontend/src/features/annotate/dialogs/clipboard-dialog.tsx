/** Text to and from the machine's clipboard, each way an action that is recorded as a step. */
import { Button, Group, Textarea } from "@mantine/core";
import { useState } from "react";

import { copyText } from "@/shared/copy-text";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

export function ClipboardDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { perform, episode } = useWorkspace();
  const [text, setText] = useState("");
  const received = episode.steps.findLast(({ action }) => action.kind === "get_clipboard")?.after?.text ?? null;
  const can = (kind: string) => episode.capabilities.includes(kind);
  return (
    <DialogForm
      submit={t("clipboard.set")}
      disabled={text === "" || !can("set_clipboard")}
      onSubmit={() => {
        onDone();
        perform({ kind: "set_clipboard", text });
      }}
    >
      <Textarea
        label={t("clipboard.to")}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={20_000}
        autosize
        minRows={2}
        maxRows={8}
        data-autofocus
      />
      {received !== null && <Textarea label={t("clipboard.from")} value={received} readOnly autosize maxRows={8} />}
      <Group>
        <Button
          variant="default"
          disabled={!can("get_clipboard")}
          onClick={() => {
            onDone();
            perform({ kind: "get_clipboard" });
          }}
        >
          {t("clipboard.get")}
        </Button>
        {received !== null && (
          <Button variant="default" onClick={() => void copyText(received)}>
            {t("clipboard.copy")}
          </Button>
        )}
      </Group>
    </DialogForm>
  );
}
