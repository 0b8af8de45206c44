/** Registers a benchmark run: its report and, if it is new, its revision. Nothing is promoted. */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { EvaluationOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useRegister } from "./api";
import { policyNames } from "./policy-label";

const SERVER = ["base_url", "model", "checkpoint", "weight_version"] as const;
const LABELS = {
  base_url: "policies.endpoint",
  model: "policies.model",
  checkpoint: "policies.checkpoint",
  weight_version: "policies.weight_version",
} as const;
const EMPTY = { base_url: "", model: "", checkpoint: "", weight_version: "" };

type Props = { readonly opened: boolean; readonly evaluation: EvaluationOut; readonly run: string; readonly onClose: () => void };

export function RegisterDialog({ opened, onClose, ...rest }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("evaluations.register.title", { name: policyNames(rest.evaluation.row, t) })} size="lg">
      <RegisterForm {...rest} onDone={onClose} />
    </Dialog>
  );
}

function RegisterForm({ evaluation, run, onDone }: Omit<Props, "opened" | "onClose"> & { onDone: () => void }) {
  const { t } = useI18n();
  const register = useRegister();
  const [fields, setFields] = useState(EMPTY);
  const isNew = evaluation.revision === null;
  const submit = () => {
    const server = Object.fromEntries(SERVER.map((name) => [name, fields[name].trim()])) as typeof EMPTY;
    register.mutate({ run, ...(isNew ? server : {}) }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t(isNew ? "evaluations.register.new" : "evaluations.register.known")}</Text>
        {isNew &&
          SERVER.map((name, place) => (
            <TextInput
              key={name}
              label={t(LABELS[name])}
              placeholder={name === "base_url" ? "http://127.0.0.1:8000/v1" : undefined}
              value={fields[name]}
              required={name === "base_url" || name === "model"}
              onChange={(event) => {
                const { value } = event.currentTarget;
                setFields((before) => ({ ...before, [name]: value }));
              }}
              data-autofocus={place === 0 || undefined}
            />
          ))}
        <Problem error={register.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={register.isPending} disabled={isNew && (fields.base_url.trim() === "" || fields.model.trim() === "")}>
            {t("evaluations.register")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
