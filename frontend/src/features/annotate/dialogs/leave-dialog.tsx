/** Gives the task back: skip it, release it for others, or report it broken. */
import { Radio, Textarea } from "@mantine/core";
import { useState } from "react";

import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

const WAYS = ["skip", "release", "broken"] as const;

export function LeaveDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { send, drafts, episode } = useWorkspace();
  // A task whose machine is gone starts afresh, also for the person who leaves it.
  const [how, setHow] = useState<(typeof WAYS)[number]>(episode.status === "failed" ? "release" : "skip");
  const { texts: { reason }, change, clear } = useTexts(drafts, episode.id, "leave", { reason: "" });
  const needsReason = how === "broken" && reason.trim() === "";
  const submit = () => {
    clear();
    send({ type: "leave", how, reason });
    onDone();
  };
  return (
    <DialogForm submit={t(`leave.${how}`)} disabled={needsReason} onSubmit={submit}>
      <Radio.Group
        label={t("leave.how")}
        value={how}
        onChange={setHow}
      >
        {WAYS.map((value) => (
          <Radio
            key={value}
            value={value}
            label={t(`leave.${value}`)}
            description={t(`leave.${value}.help`)}
            mt={8}
            data-autofocus={value === how || undefined}
          />
        ))}
      </Radio.Group>
      <Textarea
        label={t("leave.reason")}
        value={reason}
        onChange={(event) => change({ reason: event.currentTarget.value })}
        required={how === "broken"}
        maxLength={2_000}
        autosize
        minRows={2}
        maxRows={6}
      />
    </DialogForm>
  );
}
