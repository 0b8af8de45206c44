/** Asks before a policy's action uses a secret: which one, where, and why. Closing it refuses. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";

import type { SecretRequest } from "@/generated/vocabulary";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";

import styles from "./dialogs.module.css";

export function SecretsDialog() {
  const { t } = useI18n();
  const { episode, canAct, send, viewportRef } = useWorkspace();
  const request = episode.secret_requests.find(({ proposal_id }) => episode.proposals.some(({ id }) => id === proposal_id));
  const [answered, setAnswered] = useState<SecretRequest | null>(null);
  const open = request !== undefined && request !== answered && canAct && (!request.autopilot || episode.autopilot);

  const answer = (answeredRequest: SecretRequest, allow: boolean) => {
    setAnswered(answeredRequest);
    send({ type: "secrets", proposal_id: answeredRequest.proposal_id, allow });
    const proposal = episode.proposals.find(({ id }) => id === answeredRequest.proposal_id);
    if (allow && !answeredRequest.autopilot && proposal) {
      const thought = answeredRequest.thought === proposal.thought ? null : answeredRequest.thought;
      const acknowledged = proposal.safety_checks.map(({ id }) => id);
      const { actions, continued_characters } = answeredRequest;
      send({ type: "accept", proposal_id: proposal.id, base_version: episode.steps.length, thought, continued_characters, actions, acknowledged });
    }
    viewportRef.current?.focus({ preventScroll: true });
  };

  return (
    <Dialog opened={open} onClose={() => request && answer(request, false)} title={t("secrets.title")} returnFocus={false} closeOnClickOutside={false}>
      {open && (
        <Stack gap="sm">
          <Text size="sm">{t(request.autopilot ? "secrets.autopilot" : "secrets.accepted")}</Text>
          <dl className={styles.facts}>
            {request.uses.map(({ name, host, application }) => (
              <div key={name}>
                <dt>{t("secrets.which")}</dt>
                <dd>
                  <code>{name}</code>
                </dd>
                <dt>{t("secrets.where")}</dt>
                <dd>{host === "" && application === "" ? t("secrets.where.unknown") : <code>{[host, application].filter(Boolean).join(" · ")}</code>}</dd>
              </div>
            ))}
            <div>
              <dt>{t("secrets.why")}</dt>
              <dd>{request.thought === "" ? t("secrets.why.none") : request.thought}</dd>
            </div>
          </dl>
          <Text size="sm" c="dimmed">
            {t("secrets.caution")}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => answer(request, false)}>
              {t("secrets.refuse")}
            </Button>
            <Button onClick={() => answer(request, true)}>{t("secrets.allow")}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
