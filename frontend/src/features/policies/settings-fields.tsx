/** Sampling or memory as a form with explained fields; as JSON for experts. Both write the same text. */
import { Anchor, Fieldset, NumberInput, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";

import type { RevisionRegistration } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

type Settings = NonNullable<RevisionRegistration["sampling"]>;

/** What applies where a field is empty, and its bounds (protocol/sampling.py, protocol/trajectory/memory.py). */
const FIELDS = {
  sampling: {
    temperature: { initial: 0.8, min: 0, max: 10, step: 0.1 },
    max_tokens: { initial: 512, min: 1, max: 1_000_000 },
    top_p: { initial: 1, min: 0.01, max: 1, step: 0.05 },
    top_k: { initial: -1, min: -1, max: 1_000_000 },
    min_p: { initial: 0, min: 0, max: 1, step: 0.05 },
    seed: { initial: null, min: 0, max: 2_147_483_647 },
  },
  memory: {
    images: { initial: 5, min: 1, max: 1_000 },
    stride: { initial: 3, min: 1, max: 1_000 },
    tokens: { initial: 6_000, min: 0, max: 10_000_000 },
    working: { initial: 12, min: 1, max: 10_000 },
    episode: { initial: 0, min: 0, max: 10_000 },
    note_tokens: { initial: 1_500, min: 0, max: 10_000_000 },
  },
} as const;

type Bounds = { readonly initial: number | null; readonly min: number; readonly max: number; readonly step?: number };
type Props = { readonly of: keyof typeof FIELDS; readonly text: string; readonly onChange: (text: string) => void };

export function SettingsFields({ of, text, onChange }: Props) {
  const { t } = useI18n();
  const [expert, setExpert] = useState(false);
  const settings = objectOf(text);
  return (
    <Fieldset legend={t(`policies.${of}`)}>
      <Stack gap="xs">
        <Text size="sm">{t(`policies.${of}.help`)}</Text>
        {expert ? (
          <Textarea
            aria-label={t("policies.settings.json_of", { name: t(`policies.${of}`) })}
            description={t("policies.json")}
            value={text}
            onChange={(event) => onChange(event.currentTarget.value)}
            error={settings === null ? t("policies.json.wrong") : undefined}
            autosize
            spellCheck={false}
          />
        ) : (
          <>
            <NumberFields of={of} settings={settings ?? {}} onChange={(changed) => onChange(textOf(changed))} />
            <OtherSettings of={of} settings={settings ?? {}} />
          </>
        )}
        <Anchor component="button" type="button" size="sm" style={{ alignSelf: "start" }} disabled={expert && settings === null} onClick={() => setExpert(!expert)}>
          {t(expert ? "policies.settings.form" : "policies.settings.json")}
        </Anchor>
      </Stack>
    </Fieldset>
  );
}

type FieldsProps = { readonly of: Props["of"]; readonly settings: Settings; readonly onChange: (settings: Settings) => void };

function NumberFields({ of, settings, onChange }: FieldsProps) {
  const { t } = useI18n();
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {Object.entries<Bounds>(FIELDS[of]).map(([name, { initial, min, max, step = 1 }]) => {
        const value = settings[name];
        return (
          <NumberInput
            key={name}
            label={t(labelOf(of, name))}
            description={t(`${labelOf(of, name)}.help`)}
            placeholder={initial === null ? t("policies.settings.none") : t("policies.settings.default", { value: initial })}
            value={typeof value === "number" ? value : ""}
            onChange={(changed) => {
              const { [name]: _before, ...others } = settings;
              onChange(typeof changed === "number" ? { ...others, [name]: changed } : others);
            }}
            {...{ min, max, step }}
            allowDecimal={step < 1}
            clampBehavior="strict"
          />
        );
      })}
    </SimpleGrid>
  );
}

/** What the JSON has besides the fields. */
function OtherSettings({ of, settings }: Omit<FieldsProps, "onChange">) {
  const { t } = useI18n();
  const others = Object.keys(settings).filter((name) => !(name in FIELDS[of]));
  return others.length === 0 ? null : <Text size="sm">{t("policies.settings.others", { names: others.join(", ") })}</Text>;
}

type SettingLabel =
  | `policies.sampling.${keyof typeof FIELDS.sampling}`
  | `policies.memory.${keyof typeof FIELDS.memory}`;

const labelOf = (of: Props["of"], name: string) => `policies.${of}.${name}` as SettingLabel;

const textOf = (settings: Settings): string => (Object.keys(settings).length === 0 ? "" : JSON.stringify(settings));

/** The JSON object of a text, {} of an empty one; null where it is none. */
export function objectOf(text: string): Settings | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Settings) : null;
  } catch {
    return null;
  }
}
