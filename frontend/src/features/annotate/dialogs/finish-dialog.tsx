/** Ends the episode with the person's own outcome. */
import { Radio, Textarea } from "@mantine/core";
import { useState } from "react";

import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";

const OUTCOMES = ["success", "failure", "infeasible"] as const;

/** Asks for the outcome, or where that is `infeasible` from the beginning only for its reason. */
export function FinishDialog({ infeasible: onlyInfeasible, onDone }: { infeasible: boolean; onDone: () => void }) {
  const { t } = useI18n();
  const { send, drafts, episode } = useWorkspace();
  // Texts are drafts; the outcome is chosen each time.
  const [outcome, setOutcome] = useState<(typeof OUTCOMES)[number]>(onlyInfeasible ? "infeasible" : "success");
  const finish = useTexts(drafts, episode.id, "finish", { answer: "", reason: "" });
  const impossible = useTexts(drafts, episode.id, "infeasible", { reason: "" });
  const infeasible = outcome === "infeasible";
  const { answer } = finish.texts;
  const { reason } = (infeasible ? impossible : finish).texts;
  const needsReason = infeasible && reason.trim() === "";
  const submit = () => {
    (infeasible ? impossible : finish).clear();
    send({ type: "finish", outcome, answer: infeasible ? "" : answer, reason });
    onDone();
  };
  return (
    <DialogForm submit={t(infeasible ? "workspace.infeasible" : "workspace.finish")} disabled={needsReason} onSubmit={submit}>
      {!onlyInfeasible && (
        <Radio.Group
          label={t("finish.outcome")}
          value={outcome}
          onChange={setOutcome}
        >
          {OUTCOMES.map((value) => (
            <Radio key={value} value={value} label={t(`outcome.${value}`)} mt={6} data-autofocus={value === outcome || undefined} />
          ))}
        </Radio.Group>
      )}
      {!infeasible && (
        <Textarea
          label={t("finish.answer")}
          description={t("finish.answer.help")}
          value={answer}
          onChange={(event) => finish.change({ answer: event.currentTarget.value })}
          autosize
          minRows={1}
          maxRows={5}
        />
      )}
      <Textarea
        label={t(infeasible ? "finish.why_infeasible" : "finish.note")}
        value={reason}
        onChange={(event) => (infeasible ? impossible : finish).change({ reason: event.currentTarget.value })}
        required={infeasible}
        maxLength={2_000}
        autosize
        minRows={2}
        maxRows={5}
        data-autofocus={onlyInfeasible || undefined}
      />
    </DialogForm>
  );
}
