/** Accept, send back or reject with a reason, and go on through the queue. */
import { Button, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";

import type { ReviewDetails } from "@/generated/api";
import type { DraftStore } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { messageOf } from "@/shared/api/http";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey, KeyHint } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";

import { useChange, useNext } from "./api";
import { reviewCommands } from "./commands";
import { fromSearch, reviewOf } from "./filters";
import styles from "./review.module.css";

/** The reason is what is typed next. */
const focus = (field: HTMLTextAreaElement | null) => field?.focus();

export function DecisionBar({ details, drafts }: { details: ReviewDetails; drafts: DraftStore }) {
  const { t } = useI18n();
  const { id, review } = details.episode;
  const [decision, setDecision] = useState<"return" | "reject" | null>(null);
  const { texts: { reason }, change: write, clearSent } = useTexts(drafts, id, `decision.${details.round}`, { reason: "" });
  const change = useChange(id);
  const next = useNext();
  const navigate = useNavigate();
  const filters = fromSearch(useSearchParams()[0]);
  const pending = review === "pending" && details.may === "review" && (details.claim === null || details.claim.mine);
  const open = pending && !change.isPending;
  const accept = () => change.mutate({ type: "decide", review: { decision: "accept", reason: "" } });
  const submitDecision = () => {
    if (!decision || !reason.trim()) return;
    const done = () => {
      clearSent({ reason });
      setDecision(null);
    };
    change.mutateAsync({ type: "decide", review: { decision, reason: reason.trim() } }).then(done, () => undefined);
  };
  const go = (direction: "next" | "previous") =>
    next.mutate(
      { after: id, direction, filters },
      {
        onSuccess: (episode) => {
          if (episode) void navigate(reviewOf(episode.id, filters));
          else notifications.show({ message: t("review.none_left") });
        },
        onError: (error) => notifications.show({ color: "red", message: messageOf(error, t).text }),
      },
    );
  useCommands([
    { command: reviewCommands.accept, enabled: open, run: accept },
    { command: reviewCommands.return, enabled: open, run: () => setDecision("return") },
    { command: reviewCommands.reject, enabled: open, run: () => setDecision("reject") },
    { command: reviewCommands.next, enabled: !next.isPending, run: () => go("next") },
    { command: reviewCommands.previous, enabled: !next.isPending, run: () => go("previous") },
  ]);
  return (
    <div className={styles.decision}>
      {decision && pending && (
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            submitDecision();
          }}
        >
          <Textarea
            ref={focus}
            label={t("review.reason")}
            description={t("review.reason.help")}
            rows={2}
            maxLength={2_000}
            required
            value={reason}
            onChange={(event) => write({ reason: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submitDecision();
              if (event.key === "Escape") setDecision(null);
            }}
          />
          <div className={styles.buttons}>
            <Button type="submit" loading={change.isPending} disabled={reason.trim() === ""} rightSection={<KeyHint keys="Mod+Enter" />}>
              {t(decision === "return" ? "review.submit_return" : "review.submit_rejection")}
            </Button>
            <Button variant="subtle" color="gray" onClick={() => setDecision(null)} rightSection={<KeyHint keys="Escape" />}>
              {t("common.cancel")}
            </Button>
          </div>
        </form>
      )}
      <Problem error={change.error} />
      <div className={styles.buttons}>
        {pending && !decision && (
          <>
            <Button size="compact-md" onClick={accept} loading={change.isPending} rightSection={<CommandKey command={reviewCommands.accept} />}>
              {t("review.accept")}
            </Button>
            <Button size="compact-md" variant="default" onClick={() => setDecision("return")} rightSection={<CommandKey command={reviewCommands.return} />}>
              {t("review.return")}
            </Button>
            <Button size="compact-md" variant="default" onClick={() => setDecision("reject")} rightSection={<CommandKey command={reviewCommands.reject} />}>
              {t("review.reject")}
            </Button>
          </>
        )}
        <Button
          size="compact-md"
          variant={pending ? "subtle" : "filled"}
          onClick={() => go("next")}
          loading={next.isPending}
          rightSection={<CommandKey command={reviewCommands.next} />}
        >
          {t("review.next")}
        </Button>
      </div>
    </div>
  );
}
