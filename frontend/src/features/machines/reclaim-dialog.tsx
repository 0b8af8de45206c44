/** Takes a machine from its holder, who is told why. */
import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";

import type { FleetMachine } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

type Props = { readonly machine: FleetMachine | null; readonly onClose: () => void };

export function ReclaimDialog({ machine, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={machine !== null} onClose={onClose} title={t("machines.reclaim")}>
      {machine && <ReclaimForm machine={machine} onDone={onClose} />}
    </Dialog>
  );
}

function ReclaimForm({ machine, onDone }: { machine: FleetMachine; onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [reason, setReason] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "reclaim", machine: machine.id, reason: reason.trim() }, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("machines.reclaim.help", { who: machine.user ?? machine.holder ?? "" })}</Text>
        <Textarea
          label={t("machines.reason")}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          maxLength={500}
          autosize
          minRows={2}
          data-autofocus
        />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" color="red" disabled={reason.trim() === ""} loading={change.isPending}>
            {t("machines.reclaim")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
