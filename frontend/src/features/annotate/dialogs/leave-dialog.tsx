/** Gives the task back: skip it, release it for others, or report it broken. */
import { Radio, Textarea } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

const WAYS = ["skip", "release", "broken"] as const;

export function LeaveDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { send, episode } = useWorkspace();
  // A task whose machine is gone starts afresh, also for the person who leaves it.
  const initial = episode.status === "failed" ? "release" : "skip";
  const [how, setHow] = useState<(typeof WAYS)[number]>(initial);
  const [reason, setReason] = useState("");
  const needsReason = how === "broken" && reason.trim() === "";
  const submit = () => {
    send({ type: "leave", how, reason });
    onDone();
  };
  return (
    <DialogForm submit={t(`leave.${how}`)} disabled={needsReason} onSubmit={submit}>
      <Radio.Group
        label={t("leave.how")}
        value={how}
        onChange={(value) => setHow(WAYS.find((known) => known === value) ?? initial)}
      >
        {WAYS.map((value) => (
          <Radio
            key={value}
            value={value}
            label={t(`leave.${value}`)}
            description={t(`leave.${value}.help`)}
            mt={8}
            data-autofocus={value === initial || undefined}
          />
        ))}
      </Radio.Group>
      <Textarea
        label={t("leave.reason")}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        required={how === "broken"}
        maxLength={2_000}
        autosize
        minRows={2}
        maxRows={6}
      />
    </DialogForm>
  );
}
