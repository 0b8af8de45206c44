/** Values that a pool's tasks may have typed; what is set is shown to nobody. */
import { Button, Checkbox, Group, MultiSelect, PasswordInput, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { CredentialRule, PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

type SecretKind = CredentialRule["kinds"][number];
type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function SecretsDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.secrets_of", { pool: pool?.settings.name ?? "" })} size="xl">
      {pool && <Secrets pool={pool} />}
    </Dialog>
  );
}

const KINDS: readonly SecretKind[] = [
  "type_text",
  "set_clipboard",
  "type_terminal",
  "navigate",
  "run_command",
  "run_code",
  "write_file",
  "edit_file",
  "call_tool",
  "mcp_server",
];
const EMPTY: CredentialRule & { readonly value: string } = { name: "", value: "", kinds: ["type_text"], hosts: [], applications: [], confirm: true };

function Secrets({ pool }: { readonly pool: PoolRow }) {
  const { t } = useI18n();
  const change = useChange();
  const [form, setForm] = useState(EMPTY);
  const known = pool.credentials.includes(form.name);
  const rename = (name: string) => {
    const rules = pool.credential_rules.find((rule) => rule.name === name) ?? (known ? EMPTY : form);
    setForm({ ...rules, name, value: form.value }); // a name that is taken shows what it is bound to
  };
  const unbound = !form.confirm && form.hosts.length === 0 && form.applications.length === 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const { name, value, kinds, hosts, applications, confirm } = form;
        const set = { value: value === "" ? null : value, kinds, hosts, applications, confirm };
        change.mutate({ type: "credential", pool: pool.id, name, set }, { onSuccess: () => setForm(EMPTY) });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("pools.secrets.help")}</Text>
        {pool.credential_rules.length > 0 && (
          <DataTable
            rows={pool.credential_rules}
            keyOf={({ name }) => name}
            columns={[
              { header: t("pools.secrets.name"), kind: "name", cell: ({ name }) => <code>secret:{name}</code> },
              { header: t("pools.secrets.kinds"), cell: ({ kinds }) => kinds.join(", ") },
              { header: t("pools.secrets.hosts"), cell: ({ hosts }) => (hosts.length > 0 ? hosts.join(", ") : t("pools.secrets.hosts.any")) },
              {
                header: t("pools.secrets.applications"),
                cell: ({ applications }) => (applications.length > 0 ? applications.join(", ") : t("pools.secrets.hosts.any")),
              },
              {
                header: t("pools.secrets.policy"),
                cell: ({ confirm }) => t(confirm ? "pools.secrets.confirm.yes" : "pools.secrets.confirm.no"),
              },
              {
                header: t("pools.actions"),
                kind: "actions",
                cell: (rule) => (
                  <Group gap="xs" wrap="nowrap">
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={t("pools.secrets.change_of", { name: rule.name })}
                      onClick={() => setForm({ ...rule, value: "" })}
                    >
                      {t("pools.secrets.change")}
                    </Button>
                    <ConfirmButton
                      label={t("pools.secrets.forget")}
                      ariaLabel={t("pools.secrets.forget_of", { name: rule.name })}
                      confirmation={t("pools.secrets.forget.ask", { name: rule.name })}
                      onConfirm={() => change.mutateAsync({ type: "credential", pool: pool.id, name: rule.name, set: null })}
                    />
                  </Group>
                ),
              },
            ]}
          />
        )}
        <Group align="start" grow>
          <TextInput
            label={t("pools.secrets.name")}
            value={form.name}
            onChange={(event) => rename(event.currentTarget.value.toUpperCase())}
          />
          <PasswordInput
            size="xs"
            label={t("pools.secrets.value")}
            placeholder={known ? t("pools.secrets.value.same") : ""}
            value={form.value}
            onChange={(event) => setForm({ ...form, value: event.currentTarget.value })}
            autoComplete="off"
          />
        </Group>
        <MultiSelect
          label={t("pools.secrets.kinds")}
          data={[...KINDS]}
          value={[...form.kinds]}
          onChange={(kinds) => setForm({ ...form, kinds: KINDS.filter((kind) => kinds.includes(kind)) })}
        />
        <TagsInput
          label={t("pools.secrets.hosts")}
          description={t("pools.secrets.hosts.help")}
          value={[...form.hosts]}
          onChange={(hosts) => setForm({ ...form, hosts })}
        />
        <TagsInput
          label={t("pools.secrets.applications")}
          description={t("pools.secrets.applications.help")}
          value={[...form.applications]}
          onChange={(applications) => setForm({ ...form, applications })}
        />
        <Checkbox
          label={t("pools.secrets.confirm")}
          description={t("pools.secrets.confirm.help")}
          checked={form.confirm}
          onChange={(event) => setForm({ ...form, confirm: event.currentTarget.checked })}
        />
        <Group justify="flex-end">
          <Button
            type="submit"
            disabled={form.name === "" || (form.value === "" && !known) || form.kinds.length === 0 || unbound}
            loading={change.isPending}
          >
            {t(known ? "pools.secrets.replace" : "pools.secrets.keep")}
          </Button>
        </Group>
        <Problem error={change.error} />
      </Stack>
    </form>
  );
}
