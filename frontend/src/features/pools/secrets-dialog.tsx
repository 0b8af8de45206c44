/** Values that a pool's tasks may have typed; what is set is shown to nobody. */
import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { AskButton } from "@/shared/ui/ask-button";
import { DataTable } from "@/shared/ui/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";

type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function SecretsDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.secrets_of", { pool: pool?.settings.name ?? "" })}>
      {pool && <Secrets pool={pool} />}
    </Dialog>
  );
}

function Secrets({ pool }: { readonly pool: PoolRow }) {
  const { t } = useI18n();
  const change = useChange();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const clear = () => {
    setName("");
    setValue("");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ do: "credential", pool: pool.id, name, value }, { onSuccess: clear });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("pools.secrets.help")}</Text>
        {pool.credentials.length > 0 && (
          <DataTable
            rows={pool.credentials}
            keyOf={(each) => each}
            columns={[
              { head: t("pools.secrets.name"), kind: "name", cell: (each) => <code>secret:{each}</code> },
              {
                head: t("pools.actions"),
                kind: "actions",
                cell: (each) => (
                  <AskButton
                    label={t("pools.secrets.forget")}
                    named={t("pools.secrets.forget_of", { name: each })}
                    ask={t("pools.secrets.forget.ask", { name: each })}
                    run={() => change.mutateAsync({ do: "credential", pool: pool.id, name: each, value: null })}
                  />
                ),
              },
            ]}
          />
        )}
        <Group align="end">
          <TextInput label={t("pools.secrets.name")} value={name} onChange={(event) => setName(event.currentTarget.value.toUpperCase())} />
          <PasswordInput label={t("pools.secrets.value")} value={value} onChange={(event) => setValue(event.currentTarget.value)} autoComplete="off" w={180} />
          <Button type="submit" disabled={name === "" || value === ""} loading={change.isPending}>
            {t(pool.credentials.includes(name) ? "pools.secrets.replace" : "pools.secrets.keep")}
          </Button>
        </Group>
        <Problem error={change.error} />
      </Stack>
    </form>
  );
}
