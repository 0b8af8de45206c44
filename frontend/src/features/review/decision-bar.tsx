/** Accept, send back or reject with a reason, and go on through the queue. */
import { Button, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";

import type { Sheet } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";

import { useChange, useNext } from "./api";
import { reviewCommands } from "./commands";
import { fromSearch, reviewOf } from "./filters";
import styles from "./review.module.css";

/** The reason is what is typed next. */
const focus = (field: HTMLTextAreaElement | null) => field?.focus();

export function DecisionBar({ sheet }: { sheet: Sheet }) {
  const { t } = useI18n();
  const { id, review } = sheet.episode;
  const [asking, setAsking] = useState<"return" | "reject" | null>(null);
  const [reason, setReason] = useState("");
  const change = useChange(id);
  const next = useNext();
  const navigate = useNavigate();
  const filters = fromSearch(useSearchParams()[0]);
  const pending = review === "pending" && (sheet.claim === null || sheet.claim.mine);
  const open = pending && !change.isPending;
  const accept = () => change.mutate({ do: "decide", review: { decision: "accept", reason: "" } });
  const turnDown = () => {
    if (asking && reason.trim()) {
      change.mutate({ do: "decide", review: { decision: asking, reason: reason.trim() } }, { onSuccess: () => setAsking(null) });
    }
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
    { command: reviewCommands.return, enabled: open, run: () => setAsking("return") },
    { command: reviewCommands.reject, enabled: open, run: () => setAsking("reject") },
    { command: reviewCommands.next, enabled: !next.isPending, run: () => go("next") },
    { command: reviewCommands.previous, enabled: !next.isPending, run: () => go("previous") },
  ]);
  return (
    <div className={styles.decision}>
      {asking && pending && (
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            turnDown();
          }}
        >
          <Textarea
            ref={focus}
            label={t("review.reason")}
            description={t("review.reason.help")}
            rows={3}
            maxLength={2_000}
            required
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) turnDown();
              if (event.key === "Escape") setAsking(null);
            }}
          />
          <div className={styles.buttons}>
            <Button type="submit" loading={change.isPending} disabled={reason.trim() === ""}>
              {t(asking === "return" ? "review.send_back" : "review.turn_down")}
            </Button>
            <Button variant="subtle" color="gray" onClick={() => setAsking(null)}>
              {t("common.cancel")}
            </Button>
          </div>
        </form>
      )}
      <Problem error={change.error} />
      <div className={styles.buttons}>
        {pending && !asking && (
          <>
            <Button size="compact-md" onClick={accept} loading={change.isPending} rightSection={<CommandKey command={reviewCommands.accept} />}>
              {t("review.accept")}
            </Button>
            <Button size="compact-md" variant="default" onClick={() => setAsking("return")} rightSection={<CommandKey command={reviewCommands.return} />}>
              {t("review.return")}
            </Button>
            <Button size="compact-md" variant="default" onClick={() => setAsking("reject")} rightSection={<CommandKey command={reviewCommands.reject} />}>
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
