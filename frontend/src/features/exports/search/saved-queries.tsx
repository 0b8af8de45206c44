/** Kept queries: this one is kept under a name, one's own are forgotten, every one is opened. */
import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";

import type { SavedQueryOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { savedQueriesQuery, useChangeSavedQuery } from "./api";
import { addressOf, queryOf } from "./query";
import styles from "./trajectories.module.css";

export function SavedQueries({ search }: { search: URLSearchParams }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const undoable = useUndoable();
  const [name, setName] = useState("");
  const savedQueries = useQuery(savedQueriesQuery).data ?? [];
  const change = useChangeSavedQuery();
  const forget = ({ id, name: queryName, query }: SavedQueryOut) =>
    undoable({
      act: () => change.mutateAsync({ type: "forget", id }),
      done: t("trajectories.forgotten", { name: queryName }),
      undo: () => change.mutateAsync({ type: "keep", query: { name: queryName, query } }),
    });
  return (
    <Section title={t("trajectories.saved")}>
      <form
        className={styles.save}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ type: "keep", query: { name, query: queryOf(search) } }, { onSuccess: () => setName("") });
        }}
      >
        <TextInput
          aria-label={t("trajectories.name")}
          placeholder={t("trajectories.name")}
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={change.isPending}>
          {t("trajectories.save")}
        </Button>
        <Problem error={change.error} />
        {savedQueries.map((one) => (
          <span key={one.id}>
            <Button variant="subtle" onClick={() => void navigate(`?${addressOf(one.query).toString()}`)}>
              {one.name}
            </Button>
            {one.mine && (
              <ActionIcon size="sm" variant="subtle" aria-label={t("trajectories.forget_one", { name: one.name })} onClick={() => forget(one)}>
                <X size={13} />
              </ActionIcon>
            )}
          </span>
        ))}
      </form>
    </Section>
  );
}
