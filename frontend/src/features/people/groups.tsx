/** The groups pools can be given to; who is in one is set with the person. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { GroupOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { confirmColumn } from "@/shared/ui/tables/confirm-column";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { Empty } from "@/shared/ui/states";

import { groupsQuery, useMakeGroup, useRemoveGroup } from "./api";
import styles from "./people.module.css";

export function Groups() {
  const { t } = useI18n();
  const groups = useQuery(groupsQuery);
  const [name, setName] = useState("");
  const [make, remove] = [useMakeGroup(), useRemoveGroup()];
  return (
    <>
      {groups.data?.length === 0 && <Empty title={t("groups.none")}>{t("groups.none.help")}</Empty>}
      {groups.data && groups.data.length > 0 && (
        <DataTable
          label={t("groups.title")}
          rows={groups.data}
          keyOf={(group) => group.id}
          columns={[
            { header: t("groups.name"), kind: "name", className: styles.name, cell: (group) => group.name },
            { header: t("people.title"), cell: (group) => t("groups.members", { count: group.members.length }) },
            confirmColumn({
              header: t("people.actions"),
              label: t("groups.remove"),
              ariaLabel: (group: GroupOut) => t("groups.remove_one", { name: group.name }),
              confirmation: (group: GroupOut) => t("groups.remove.ask", { count: group.members.length }),
              onConfirm: (group: GroupOut) => remove.mutateAsync(group.id),
            }),
          ]}
        />
      )}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate({ name, members: [] }, { onSuccess: () => setName("") });
        }}
      >
        <TextInput label={t("groups.name")} value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <Button type="submit" disabled={!name.trim()} loading={make.isPending}>
          {t("groups.make")}
        </Button>
        <Problem error={make.error} />
      </form>
    </>
  );
}
