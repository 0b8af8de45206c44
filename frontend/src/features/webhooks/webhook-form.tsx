/** Registers an address and what it is told of. */
import { Button, MultiSelect, TextInput } from "@mantine/core";
import { useState } from "react";

import type { WebhookIn, WebhookMade } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { EVENTS, useAdd } from "./api";
import styles from "./webhooks.module.css";

export function WebhookForm({ onMade }: { onMade: (made: WebhookMade) => void }) {
  const { t } = useI18n();
  const add = useAdd();
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<string[]>([]);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(
          { url: url.trim(), events: events as unknown as WebhookIn["events"] },
          {
            onSuccess: (made) => {
              setUrl("");
              setEvents([]);
              onMade(made);
            },
          },
        );
      }}
    >
      <TextInput
        type="url"
        className={styles.wide}
        label={t("webhooks.url")}
        description={t("webhooks.url.help")}
        placeholder="https://"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <MultiSelect
        className={styles.wide}
        label={t("webhooks.events")}
        description={t("webhooks.events.help")}
        data={EVENTS.map((value) => ({ value, label: t(`webhooks.event.${value}`) }))}
        value={events}
        onChange={setEvents}
      />
      <Button type="submit" disabled={!url.trim() || events.length === 0} loading={add.isPending}>
        {t("webhooks.add")}
      </Button>
      <Problem error={add.error} />
    </form>
  );
}
