/** Values that a pool's tasks may have typed; what is set is shown to nobody. */
import { Button, Group, PasswordInput, Stack, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./pools.module.css";

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
          <Table className={styles.table}>
            <Table.Tbody>
              {pool.credentials.map((each) => (
                <Table.Tr key={each}>
                  <Table.Td>
                    <code>secret:{each}</code>
                  </Table.Td>
                  <Table.Td className={styles.actions}>
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={t("pools.secrets.forget_of", { name: each })}
                      onClick={() => change.mutate({ do: "credential", pool: pool.id, name: each, value: null })}
                    >
                      {t("pools.secrets.forget")}
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        <Group align="end">
          <TextInput label={t("pools.secrets.name")} value={name} onChange={(event) => setName(event.currentTarget.value.toUpperCase())} />
          <PasswordInput label={t("pools.secrets.value")} value={value} onChange={(event) => setValue(event.currentTarget.value)} autoComplete="off" w={180} />
          <Button type="submit" disabled={name === "" || value === ""} loading={change.isPending}>
            {t("pools.secrets.keep")}
          </Button>
        </Group>
        <Problem error={change.error} />
      </Stack>
    </form>
  );
}
