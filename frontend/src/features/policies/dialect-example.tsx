/** How a dialect says a thought and a click, so that it can be compared with what a model's makers document. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { RevisionRegistration } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { dialectsQuery } from "./api";
import styles from "./policies.module.css";

export function DialectExampleText({ dialect }: { readonly dialect: NonNullable<RevisionRegistration["dialect"]> }) {
  const { t } = useI18n();
  const example = useQuery(dialectsQuery).data?.find(({ name }) => name === dialect);
  if (example === undefined) return null;
  return (
    <div>
      <Text size="sm">{t(example.absolute ? "policies.example.absolute" : "policies.example.grid")}</Text>
      <pre className={styles.example}>{example.reply}</pre>
    </div>
  );
}
