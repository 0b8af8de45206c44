/** Registers the weights of a cycle as an inactive revision, to test it before it is promoted. */
import { Button, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { CheckpointOut, TurnOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useCheckpointRegistration } from "./api";
import { trainingName } from "./figures";

type Props = { readonly cycle: TurnOut; readonly checkpoint: CheckpointOut };

export function RegisterCheckpoint({ cycle, checkpoint }: Props) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("flywheel.register_of", { phase: trainingName(checkpoint, t) })}
        onClick={() => setOpen(true)}
      >
        {t("flywheel.register")}
      </Button>
      <Dialog opened={open} onClose={() => setOpen(false)} title={t("flywheel.register.title", { phase: trainingName(checkpoint, t) })} size="lg">
        <Form cycle={cycle} checkpoint={checkpoint} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Form({ cycle: { row, wheel, recipe }, checkpoint, onDone }: Props & { onDone: () => void }) {
  const { t } = useI18n();
  const register = useCheckpointRegistration(row.id);
  const [revision, setRevision] = useState(`${wheel}-${String(row.number).padStart(4, "0")}-${checkpoint.phase}`);
  const [address, setAddress] = useState("");
  const [model, setModel] = useState(recipe.policy);
  const given = { revision: revision.trim(), base_url: address.trim(), model: model.trim() };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        register.mutate({ checkpoint: checkpoint.id, ...given }, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("flywheel.register.help", { policy: recipe.policy })}</Text>
        <Code>{checkpoint.path}</Code>
        <TextInput label={t("flywheel.revision")} value={revision} onChange={(event) => setRevision(event.currentTarget.value)} required data-autofocus />
        <TextInput
          label={t("policies.endpoint")}
          description={t("flywheel.register.endpoint")}
          placeholder="http://127.0.0.1:8095/v1"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          required
        />
        <TextInput label={t("policies.model")} value={model} onChange={(event) => setModel(event.currentTarget.value)} required />
        <Problem error={register.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={register.isPending} disabled={Object.values(given).includes("")}>
            {t("policies.register.confirm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
