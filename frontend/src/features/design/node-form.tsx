/** Names and weighs the chosen node, or makes one below it; without one, an application. */
import { Button, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";

import type { NodeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";

export function NodeForm({ node, onGone }: { node: NodeOut | null; onGone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [name, setName] = useState(node?.name ?? "");
  const [importance, setImportance] = useState(node?.importance ?? 1);
  const [asking, setAsking] = useState(false);
  const [below, setBelow] = useState("");
  return (
    <div className={styles.form}>
      {node && (
        <form
          className={styles.fields}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ do: "change", node: node.id, name, importance });
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
          <Button variant="default" onClick={() => setAsking(true)}>
            {t("design.delete")}
          </Button>
          <Dialog opened={asking} onClose={() => setAsking(false)} title={t("design.delete")}>
            <p>{t("design.delete.ask", { name: node.name })}</p>
            <Button
              color="red"
              onClick={() => change.mutate({ do: "delete", node: node.id }, { onSuccess: onGone, onSettled: () => setAsking(false) })}
            >
              {t("design.delete")}
            </Button>
          </Dialog>
        </form>
      )}
      <form
        className={styles.fields}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { do: "make", parent: node?.id ?? null, name: below, importance: 1 },
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
