/** Registers a revision; what the server finds wrong is said by field. */
import { Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput, Textarea } from "@mantine/core";
import { useState } from "react";

import type { RevisionIn } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

const DIALECTS = [
  "ui_tars_1_5",
  "ui_tars_2",
  "ui_tars_1_0",
  "doubao_1_5_ui_tars",
  "doubao_1_5_ui_tars_15b",
  "opencua",
  "evocua_s1",
  "qwen_computer",
  "qwen2_5_computer",
  "qwen_mobile",
  "fara",
  "glm_v",
  "autoglm_phone",
  "ui_venus",
  "holo",
  "holo_1_5",
  "json_calls",
] as const satisfies readonly RevisionIn["dialect"][];
const REQUIRED = ["name", "revision", "base_url", "model"] as const;
const OPTIONAL = ["checkpoint", "weight_version"] as const;
const LABELS = {
  name: "policies.name",
  revision: "policies.revision",
  base_url: "policies.endpoint",
  model: "policies.model",
  checkpoint: "policies.checkpoint",
  weight_version: "policies.weight_version",
  sampling: "policies.sampling",
  memory: "policies.memory",
} as const;
const EMPTY = { name: "", revision: "", base_url: "", model: "", checkpoint: "", weight_version: "", sampling: "", memory: "" };

type Settings = NonNullable<RevisionIn["sampling"]>;

export function RegisterDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("policies.register.title")} size="lg">
      <RegisterForm onDone={onClose} />
    </Dialog>
  );
}

function RegisterForm({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [fields, setFields] = useState(EMPTY);
  const [dialect, setDialect] = useState<RevisionIn["dialect"]>("ui_tars_1_5");
  const [scripted, setScripted] = useState(false);
  const [sampling, memory] = [objectOf(fields.sampling), objectOf(fields.memory)];
  const set = (name: keyof typeof EMPTY) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setFields((before) => ({ ...before, [name]: value }));
  };
  const usable = REQUIRED.every((name) => fields[name].trim() !== "") && sampling !== null && memory !== null;
  const submit = () => {
    if (sampling === null || memory === null) return;
    const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.trim()])) as typeof EMPTY;
    change.mutate({ type: "register", revision: { ...texts, dialect, scripted, sampling, memory } }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("policies.register.help")}</Text>
        {REQUIRED.map((name, index) => (
          <TextInput
            key={name}
            label={t(LABELS[name])}
            placeholder={name === "base_url" ? "http://127.0.0.1:8000/v1" : undefined}
            value={fields[name]}
            onChange={set(name)}
            required
            data-autofocus={index === 0 || undefined}
          />
        ))}
        <NativeSelect
          label={t("policies.dialect")}
          value={dialect}
          onChange={(event) => setDialect(DIALECTS.find((each) => each === event.currentTarget.value) ?? "ui_tars_1_5")}
          data={DIALECTS.map((each) => ({ value: each, label: t(`policies.dialect.${each}`) }))}
        />
        {OPTIONAL.map((name) => (
          <TextInput key={name} label={t(LABELS[name])} value={fields[name]} onChange={set(name)} />
        ))}
        {(["sampling", "memory"] as const).map((name) => (
          <Textarea
            key={name}
            label={t(LABELS[name])}
            description={t("policies.json")}
            value={fields[name]}
            onChange={set(name)}
            error={objectOf(fields[name]) === null ? t("policies.json.wrong") : undefined}
            autosize
          />
        ))}
        <Checkbox
          label={t("policies.scripted")}
          checked={scripted}
          onChange={(event) => setScripted(event.currentTarget.checked)}
        />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={!usable} loading={change.isPending}>
            {t("policies.register.confirm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The JSON object of a text, {} of an empty one; null where it is none. */
export function objectOf(text: string): Settings | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Settings) : null;
  } catch {
    return null;
  }
}
