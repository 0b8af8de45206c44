/** A finished export becomes a dataset version: kept, numbered and citable. */
import { Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";

import type { ExportOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useFreeze } from "./api";
import { describeExport } from "./descriptions";

const NAME = "[a-z0-9][a-z0-9._\\-]{0,63}";

export function FreezeDialog({ item, onClose }: { item: ExportOut; onClose: () => void }) {
  const i18n = useI18n();
  const { t } = i18n;
  const [name, setName] = useState("");
  const [notes, setNotes] = useState("");
  const freeze = useFreeze();
  return (
    <Dialog opened onClose={onClose} title={t("versions.freeze.title")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          freeze.mutate({ id: item.id, name, notes: notes.trim() }, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{t("versions.freeze.help", { what: describeExport(i18n, item), count: item.trajectories })}</Text>
          <TextInput
            label={t("versions.name")}
            description={t("versions.name.help")}
            required
            pattern={NAME}
            title={t("versions.name.help")}
            maxLength={64}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <Textarea label={t("versions.notes")} autosize minRows={2} maxLength={2_000} value={notes} onChange={(event) => setNotes(event.currentTarget.value)} />
          <Problem error={freeze.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("common.cancel")}
            </Button>
            <Button type="submit" loading={freeze.isPending}>
              {t("versions.freeze.do")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
