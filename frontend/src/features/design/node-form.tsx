/** Names and weighs the chosen node, or makes one below it; without one, an application. */
import { Button, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";

import type { NodeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";

export function NodeForm({ node, onGone }: { node: NodeOut | null; onGone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [name, setName] = useState(node?.name ?? "");
  const [importance, setImportance] = useState(node?.importance ?? 1);
  const [below, setBelow] = useState("");
  return (
    <div className={styles.form}>
      {node && (
        <form
          className={styles.fields}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ type: "change", node: node.id, name, importance });
          }}
        >
          <TextInput label={t("design.name")} value={name} maxLength={100} onChange={(event) => setName(event.currentTarget.value)} />
          <NumberInput
            label={t("design.importance")}
            w={110}
            min={0}
            max={10}
            value={importance}
            onChange={(value) => setImportance(Number(value))}
          />
          <Button type="submit" variant="default" disabled={name.trim() === ""} loading={change.isPending}>
            {t("design.save")}
          </Button>
          <ConfirmButton
            size="sm"
            label={t("design.delete")}
            ariaLabel={t("design.delete_one", { name: node.name })}
            confirmation={t("design.delete.ask", { name: node.name })}
            onConfirm={() => change.mutateAsync({ type: "delete", node: node.id }).then(onGone)}
          />
        </form>
      )}
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { type: "make", parent: node?.id ?? null, name: below, importance: 1 },
            { onSuccess: () => setBelow("") },
          );
        }}
      >
        <TextInput
          label={node ? t("design.below", { name: node.name }) : t("design.application")}
          value={below}
          maxLength={100}
          onChange={(event) => setBelow(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={below.trim() === ""}>
          {t("design.add")}
        </Button>
      </form>
      <Problem error={change.error} />
    </div>
  );
}
