/** Text to copy into a terminal or a program, under the name of what reads it. */
import { Button, CopyButton } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./snippet.module.css";

interface Props {
  readonly name: string;
  readonly text: string;
  /** Shows the beginning of a long text on one line; all of it is copied. */
  readonly oneLine?: boolean;
}

export function Snippet({ name, text, oneLine = false }: Props) {
  const { t } = useI18n();
  return (
    <div className={styles.snippet}>
      <span className={styles.name}>{name}</span>
      <pre data-one-line={oneLine || undefined}>{text}</pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" size="compact-xs" onClick={copy} aria-label={copied ? undefined : t("api_calls.copy_of", { name })}>
            {t(copied ? "api_calls.copied" : "api_calls.copy")}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
