/** The prompt of a revision: its dialect's own, or the one that the model's makers publish. */
import { Button, Fieldset, Group, Stack, Switch, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { PromptTemplate, RevisionRegistration } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { promptQuery } from "./api";

/** What may be filled in (protocol/dialects/prompt_template.py); the last two in the first message alone. */
const PLACEHOLDERS = ["instruction", "language", "width", "height", "actions", "opening", "steps", "screen"] as const;

type Props = {
  readonly dialect: NonNullable<RevisionRegistration["dialect"]>;
  /** Null: the dialect's own. */
  readonly value: PromptTemplate | null;
  readonly onChange: (value: PromptTemplate | null) => void;
};

export function PromptFields({ dialect, value, onChange }: Props) {
  const { t } = useI18n();
  const own = useQuery(promptQuery(dialect));
  return (
    <Fieldset legend={t("policies.prompt")}>
      <Stack gap="sm">
        <Switch
          label={t("policies.prompt.other")}
          description={t("policies.prompt.other.help")}
          checked={value !== null}
          disabled={own.data === undefined}
          onChange={(event) => onChange(event.currentTarget.checked ? (own.data ?? null) : null)}
        />
        <Problem error={own.error} />
        {value !== null && (
          <>
            <Textarea
              label={t("policies.prompt.system")}
              description={t("policies.prompt.system.help")}
              value={value.prompt}
              onChange={(event) => onChange({ ...value, prompt: event.currentTarget.value })}
              autosize
              minRows={6}
              maxRows={16}
              spellCheck={false}
            />
            <Textarea
              label={t("policies.prompt.task")}
              description={t("policies.prompt.task.help")}
              value={value.task}
              onChange={(event) => onChange({ ...value, task: event.currentTarget.value })}
              autosize
              minRows={2}
              maxRows={10}
              spellCheck={false}
            />
            <Text size="sm" component="div">
              {t("policies.prompt.placeholders", { escaped: "{{word}}", word: "{word}" })}
              <dl style={{ margin: 0 }}>
                {PLACEHOLDERS.map((name) => (
                  <Group key={name} gap="xs" wrap="nowrap" align="baseline">
                    <dt>
                      <code>{`{${name}}`}</code>
                    </dt>
                    <dd style={{ margin: 0 }}>{t(`policies.prompt.placeholder.${name}`)}</dd>
                  </Group>
                ))}
              </dl>
            </Text>
            <Group>
              <Button variant="default" size="xs" onClick={() => onChange(own.data ?? value)}>
                {t("policies.prompt.reset")}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Fieldset>
  );
}
