/** Registers a revision; what the server finds wrong is said by field. */
import { Button, Checkbox, Fieldset, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { PromptTemplate, RevisionRegistration, RevisionSummary } from "@/generated/api";
import { DIALECTS } from "@/shared/dialects";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import { DialectExampleText } from "./dialect-example";
import { PromptFields } from "./prompt-fields";
import { isHosted, NO_VALUES, PROVIDER_DIALECTS, ProviderFields, PROVIDERS, providerSettings, valuesOf, type Provider } from "./provider-fields";
import { ProbePanel } from "./probes/probe-panel";
import { objectOf, SettingsFields } from "./settings-fields";

const REQUIRED = ["name", "revision", "base_url", "model"] as const;
const OPTIONAL = ["checkpoint", "weight_version"] as const;
const LABELS = {
  name: "policies.name",
  revision: "policies.revision",
  base_url: "policies.endpoint",
  model: "policies.model",
  checkpoint: "policies.checkpoint",
  weight_version: "policies.weight_version",
} as const;
/** Most actions that one reply may hold (protocol/sampling.py). */
const MAX_ACTIONS = 16;
const EMPTY = { name: "", revision: "", base_url: "", model: "", checkpoint: "", weight_version: "", sampling: "", memory: "" };

type Props = {
  readonly opened: boolean;
  /** The revision that the form begins with; null: an empty form. */
  readonly from: RevisionSummary | null;
  readonly onClose: () => void;
};

export function RegisterDialog({ opened, from, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("policies.register.title")} size="lg">
      <RegisterForm key={from?.id ?? ""} from={from} onDone={onClose} />
    </Dialog>
  );
}

function RegisterForm({ from, onDone }: { from: RevisionSummary | null; onDone: () => void }) {
  const { t } = useI18n();
  const change = useChange();
  const [initial] = useState(() => (from === null ? NOTHING : valuesFrom(from)));
  const [fields, setFields] = useState(initial.fields);
  const [dialect, setDialect] = useState(initial.dialect);
  const [scripted, setScripted] = useState(initial.scripted);
  const [maxActions, setMaxActions] = useState(initial.maxActions);
  const [provider, setProvider] = useState(initial.provider);
  const [values, setValues] = useState(initial.values);
  const [prompt, setPrompt] = useState(initial.prompt);
  const hosted = isHosted(provider);
  const settings = hosted ? providerSettings(values) : {};
  const [sampling, memory] = [objectOf(fields.sampling), objectOf(fields.memory)];
  const set = (name: keyof typeof EMPTY) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setFields((before) => ({ ...before, [name]: value }));
  };
  const required = REQUIRED.filter((name) => !(hosted && name === "base_url"));
  const usable = required.every((name) => fields[name].trim() !== "") && sampling !== null && memory !== null && settings !== null;
  const describe = (name: string) => {
    if (name === "base_url") return t("policies.address.help");
    return name === "model" ? t("policies.provider.model.help", { provider: t(`policies.provider.${provider}`) }) : undefined;
  };
  const submit = () => {
    if (sampling === null || memory === null || settings === null) return;
    const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.trim()])) as typeof EMPTY;
    const drawn = maxActions > 1 ? { ...sampling, max_actions: maxActions } : sampling;
    const served = { provider, provider_settings: settings, ...(values.key.trim() === "" ? {} : { api_key: values.key.trim() }) };
    const spoken = isHosted(provider) ? { dialect: PROVIDER_DIALECTS[provider], scripted: false } : { dialect, scripted };
    change.mutate({ type: "register", revision: { ...texts, ...served, ...spoken, sampling: drawn, memory, prompt } }, { onSuccess: onDone });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("policies.register.help")}</Text>
        <NativeSelect
          label={t("policies.provider")}
          value={provider}
          onChange={(event) => {
            setProvider(PROVIDERS.find((each) => each === event.currentTarget.value) ?? "openai_compatible");
            setValues({ ...NO_VALUES, key: values.key });
            setPrompt(null);
          }}
          data={PROVIDERS.map((value) => ({ value, label: t(`policies.provider.${value}`) }))}
        />
        {REQUIRED.map((name, index) => (
          <TextInput
            key={name}
            label={t(LABELS[name])}
            description={hosted ? describe(name) : undefined}
            placeholder={name === "base_url" && !hosted ? "http://127.0.0.1:8000/v1" : undefined}
            value={fields[name]}
            onChange={set(name)}
            required={required.includes(name)}
            data-autofocus={index === 0 || undefined}
          />
        ))}
        <ProviderFields provider={provider} values={values} onChange={setValues} />
        {!hosted && <NativeSelect
          label={t("policies.dialect")}
          value={dialect}
          onChange={(event) => {
            setDialect(DIALECTS.find((each) => each === event.currentTarget.value) ?? "ui_tars_1_5");
            setPrompt(null);
          }}
          data={DIALECTS.map((each) => ({ value: each, label: t(`policies.dialect.${each}`) }))}
          description={t("policies.dialect.help")}
        />}
        <DialectExampleText dialect={isHosted(provider) ? PROVIDER_DIALECTS[provider] : dialect} />
        {!hosted && OPTIONAL.map((name) => (
          <TextInput key={name} label={t(LABELS[name])} value={fields[name]} onChange={set(name)} />
        ))}
        <NumberInput
          label={t("policies.max_actions")}
          description={t("policies.max_actions.help")}
          value={maxActions}
          onChange={(value) => setMaxActions(typeof value === "number" ? value : 1)}
          min={1}
          max={MAX_ACTIONS}
          allowDecimal={false}
          clampBehavior="strict"
        />
        {(["sampling", "memory"] as const).map((name) => (
          <SettingsFields key={name} of={name} text={fields[name]} onChange={(text) => setFields((before) => ({ ...before, [name]: text }))} />
        ))}
        <PromptFields dialect={isHosted(provider) ? PROVIDER_DIALECTS[provider] : dialect} value={prompt} onChange={setPrompt} />
        {!hosted && (
          <Checkbox label={t("policies.scripted")} checked={scripted} onChange={(event) => setScripted(event.currentTarget.checked)} />
        )}
        {(hosted || !scripted) && (
          <Trial
            address={fields.base_url.trim()}
            model={fields.model.trim()}
            dialect={dialect}
            provider={provider}
            settings={settings}
            apiKey={values.key.trim()}
            prompt={prompt}
          />
        )}
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={!usable} loading={change.isPending}>
            {t("policies.register.confirm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FormValues {
  readonly fields: typeof EMPTY;
  readonly dialect: NonNullable<RevisionRegistration["dialect"]>;
  readonly scripted: boolean;
  readonly maxActions: number;
  readonly provider: Provider;
  readonly values: typeof NO_VALUES;
  readonly prompt: PromptTemplate | null;
}

const NOTHING: FormValues = {
  ...{ fields: EMPTY, dialect: "ui_tars_1_5", scripted: false, maxActions: 1 },
  ...{ provider: "openai_compatible", values: NO_VALUES, prompt: null },
};

/** What a form that begins with a revision has; the new one needs a name of its own. */
function valuesFrom(revision: RevisionSummary): FormValues {
  const { policy, base_url, model, checkpoint, weight_version, memory, provider, prompt } = revision;
  const { max_actions: maxActions, ...sampling } = revision.sampling;
  const text = (settings: object) => (Object.keys(settings).length === 0 ? "" : JSON.stringify(settings));
  return {
    fields: { ...EMPTY, name: policy.name, base_url, model, checkpoint, weight_version, sampling: text(sampling), memory: text(memory) },
    dialect: DIALECTS.find((each) => each === policy.dialect) ?? NOTHING.dialect,
    scripted: policy.scripted,
    maxActions: typeof maxActions === "number" ? maxActions : 1,
    ...{ provider, prompt, values: valuesOf(revision.provider_settings) },
  };
}

type TrialProps = {
  readonly address: string;
  readonly model: string;
  readonly dialect: RevisionRegistration["dialect"];
  readonly provider: Provider;
  readonly settings: RevisionRegistration["provider_settings"] | null;
  readonly apiKey: string;
  readonly prompt: PromptTemplate | null;
};

/** A probe of the model as the form describes it, with the key that was typed. */
function Trial({ address, model, dialect, provider, settings, apiKey, prompt }: TrialProps) {
  const { t } = useI18n();
  const hosted = isHosted(provider);
  const endpoint = {
    ...{ base_url: address, model, provider, provider_settings: settings ?? {}, prompt },
    dialect: hosted ? PROVIDER_DIALECTS[provider] : dialect,
    ...(apiKey === "" ? {} : { api_key: apiKey }),
  };
  return (
    <Fieldset legend={t("probes.title")}>
      <ProbePanel endpoint={endpoint} disabled={model === "" || settings === null || (!hosted && address === "")} />
    </Fieldset>
  );
}
