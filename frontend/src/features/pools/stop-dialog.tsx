/** Asks before a pool is stopped, and why; it can be started again. */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function StopDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.stop_title", { pool: pool?.settings.name ?? "" })}>
      {pool && <StopForm pool={pool} onDone={onClose} />}
    </Dialog>
  );
}

function StopForm({ pool, onDone }: { readonly pool: PoolRow; readonly onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [reason, setReason] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "stop", pool: pool.id, reason }, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("pools.stop.help", { count: pool.open_episodes })}</Text>
        <TextInput
          label={t("pools.stop.reason")}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          maxLength={500}
          data-autofocus
        />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" color="red" loading={change.isPending}>
            {t("pools.stop")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
