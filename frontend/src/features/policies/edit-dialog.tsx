/** Changes where a revision is served. What it says is never changed: another revision is made from it instead. */
import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { RevisionSummary } from "@/generated/api";
import { errorFor } from "@/shared/api/mutations";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { nameOf, useChange, type Change } from "./api";

const FIELDS = ["base_url", "model", "checkpoint", "weight_version"] as const;
const LABELS = {
  base_url: "policies.endpoint",
  model: "policies.model",
  checkpoint: "policies.checkpoint",
  weight_version: "policies.weight_version",
} as const;

export function EditDialog({ revision, onClose }: { revision: RevisionSummary | null; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={revision !== null} onClose={onClose} title={t("policies.edit.title", { name: revision ? nameOf(revision) : "" })}>
      {revision && <EditForm revision={revision} onDone={onClose} />}
    </Dialog>
  );
}

function EditForm({ revision, onDone }: { revision: RevisionSummary; onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [fields, setFields] = useState(() => Object.fromEntries(FIELDS.map((name) => [name, revision[name]])) as Record<(typeof FIELDS)[number], string>);
  const [key, setKey] = useState("");
  const hosted = revision.provider !== "openai_compatible";
  const visible = FIELDS.filter((name) => !hosted || name === "base_url" || name === "model");
  const changed = Object.fromEntries(visible.filter((name) => fields[name].trim() !== revision[name]).map((name) => [name, fields[name].trim()]));
  const edited = { ...changed, ...(key.trim() === "" ? {} : { api_key: key.trim() }) };
  const wish = { type: "edit", revision: revision.id, changed: edited } as const;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(wish, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("policies.edit.help")}</Text>
        {visible.map((name, index) => (
          <TextInput
            key={name}
            label={t(LABELS[name])}
            value={fields[name]}
            onChange={(event) => {
              const { value } = event.currentTarget;
              setFields((before) => ({ ...before, [name]: value }));
            }}
            required={name === "base_url" || name === "model"}
            data-autofocus={index === 0 || undefined}
          />
        ))}
        <PasswordInput
          label={t("policies.api_key")}
          description={t("policies.api_key.help")}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="off"
        />
        <Problem error={errorFor<Change>(change, wish)} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={Object.keys(edited).length === 0} loading={change.isPending}>
            {t("policies.save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
