/** Ends a takeover: what was done by hand becomes a step, and its thought says why. */
import { Textarea } from "@mantine/core";

import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { needsThoughtFirst } from "@/shared/steps";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

export function TakeoverDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { send, drafts, episode } = useWorkspace();
  const { texts: { thought }, change, clear } = useTexts(drafts, episode.id, `takeover.${episode.steps.length}`, { thought: "" });
  const submit = () => {
    clear();
    send({ type: "takeover", on: false, thought });
    onDone();
  };
  return (
    <DialogForm submit={t("takeover.end")} disabled={needsThoughtFirst(episode) && thought.trim() === ""} onSubmit={submit}>
      <Textarea
        label={t("step.thought")}
        description={t("takeover.thought.help")}
        value={thought}
        onChange={(event) => change({ thought: event.currentTarget.value })}
        maxLength={8_000}
        autosize
        minRows={3}
        maxRows={8}
        data-autofocus
      />
    </DialogForm>
  );
}
