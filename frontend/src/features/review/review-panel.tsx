/** Accept a finished episode, or send it back with a reason its annotator can act on. */
import { Button, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";

import { useUser } from "@/shared/account/account";

import { messageOf } from "@/shared/api/http";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ReviewBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";

import { reviewQuery, useNextToReview, useReview } from "./api";
import { reviewCommands } from "./commands";
import styles from "./review.module.css";

/** The reason is what is typed next. */
const focus = (field: HTMLTextAreaElement | null) => field?.focus();

export function ReviewPanel({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const [reason, setReason] = useState("");
  const [returning, setReturning] = useState(false);
  const review = useReview(episodeId);
  const known = useQuery(reviewQuery(episodeId));
  const pending = known.data?.review === "pending";
  const decided = pending ? undefined : known.data?.review;
  const failure = review.error ?? known.error;
  const navigate = useNavigate();
  const next = useNextToReview(useUser().username);

  const accept = () => review.mutate({ decision: "accept", reason: "" });
  const giveBack = () => review.mutate({ decision: "return", reason: reason.trim() });
  const goOn = () =>
    next.mutate(undefined, {
      onSuccess: (episode) => {
        if (episode) void navigate(`/episodes/${episode.id}`);
        else notifications.show({ message: t("review.none_left") });
      },
      onError: (error) => notifications.show({ color: "red", message: messageOf(error, t).text }),
    });
  const open = pending && !review.isPending;
  useCommands([
    { command: reviewCommands.accept, enabled: open, run: accept },
    { command: reviewCommands.return, enabled: open, run: () => setReturning(true) },
    { command: reviewCommands.next, enabled: !next.isPending, run: goOn },
  ]);

  return (
    <section className={styles.panel} aria-label={t("review.title")}>
      <h2 className={styles.title}>{t("review.title")}</h2>
      {decided && (
        <div className={styles.buttons} role="status">
          <ReviewBadge review={decided} />
          <Button onClick={goOn} loading={next.isPending} rightSection={<CommandKey command={reviewCommands.next} />}>
            {t("review.next")}
          </Button>
        </div>
      )}
      {pending && (
        <div className={styles.buttons}>
          <Button onClick={accept} loading={review.isPending && !returning} rightSection={<CommandKey command={reviewCommands.accept} />}>
            {t("review.accept")}
          </Button>
          <Button variant="default" onClick={() => setReturning(true)} rightSection={<CommandKey command={reviewCommands.return} />}>
            {t("review.return")}
          </Button>
        </div>
      )}
      {returning && pending && (
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            giveBack();
          }}
        >
          <Textarea
            ref={focus}
            label={t("review.reason")}
            description={t("review.reason.help")}
            rows={4}
            maxLength={2_000}
            required
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <div className={styles.buttons}>
            <Button type="submit" loading={review.isPending} disabled={reason.trim() === ""}>
              {t("review.send_back")}
            </Button>
            <Button variant="subtle" color="gray" onClick={() => setReturning(false)}>
              {t("common.cancel")}
            </Button>
          </div>
        </form>
      )}
      {failure && (
        <p className={styles.error} role="alert">
          {messageOf(failure, t).text}
        </p>
      )}
    </section>
  );
}
