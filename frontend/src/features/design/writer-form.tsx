/** Adds a model that words instructions anew; one that is there is never changed. */
import { Button, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";

const EMPTY = { name: "", revision: "1", base_url: "", model: "", temperature: 0.9, max_tokens: 1024 };
const TEXTS = [
  ["name", 64],
  ["revision", 64],
  ["base_url", 500],
  ["model", 200],
] as const;

export function WriterForm() {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  const [writer, setWriter] = useState(EMPTY);
  const change = useChange();
  const close = () => {
    setOpen(false);
    change.reset();
  };
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        {t("design.writer.add")}
      </Button>
      <Dialog opened={open} onClose={close} title={t("design.writer.add")}>
        <form
          className={styles.stack}
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate(
              { type: "writer", writer },
              {
                onSuccess: () => {
                  setWriter(EMPTY);
                  close();
                },
              },
            );
          }}
        >
          <p className={styles.note}>{t("design.writer.help")}</p>
          {TEXTS.map(([name, maxLength]) => (
            <TextInput
              key={name}
              label={t(`design.writer.${name}`)}
              placeholder={name === "base_url" ? "http://127.0.0.1:8000/v1" : undefined}
              type={name === "base_url" ? "url" : "text"}
              required
              maxLength={maxLength}
              value={writer[name]}
              onChange={({ currentTarget: { value } }) => setWriter({ ...writer, [name]: value })}
            />
          ))}
          <NumberInput
            label={t("design.writer.temperature")}
            min={0}
            max={2}
            step={0.1}
            value={writer.temperature}
            onChange={(value) => setWriter({ ...writer, temperature: Number(value) })}
          />
          <NumberInput
            label={t("design.writer.max_tokens")}
            min={16}
            max={16_384}
            value={writer.max_tokens}
            onChange={(value) => setWriter({ ...writer, max_tokens: Number(value) })}
          />
          <Problem error={change.error} />
          <Button type="submit" loading={change.isPending}>
            {t("design.add")}
          </Button>
        </form>
      </Dialog>
    </>
  );
}
