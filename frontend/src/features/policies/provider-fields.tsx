/** What a hosted model is registered with: its key, tool, prices and the size of its pictures. */
import { NativeSelect, NumberInput, PasswordInput, SimpleGrid, Stack, Text } from "@mantine/core";

import type { RevisionRegistration } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

export type Provider = NonNullable<RevisionRegistration["provider"]>;
export type HostedProvider = Exclude<Provider, "openai_compatible">;

export const PROVIDERS: readonly Provider[] = ["openai_compatible", "anthropic", "openai", "gemini"];
/** The dialect of each provider's computer tool. */
export const PROVIDER_DIALECTS: Record<HostedProvider, RevisionRegistration["dialect"]> = {
  anthropic: "anthropic",
  openai: "openai_computer",
  gemini: "gemini_computer",
};
/** Versions of each provider's computer tool, the present one first. */
const COMPUTER_TOOLS: Record<HostedProvider, readonly string[]> = {
  anthropic: ["computer_toolset_20260801", "computer_20251124", "computer_20250124", "computer_20241022"],
  openai: ["computer", "computer_use_preview"],
  gemini: ["gemini_3_5", "gemini_2_5"],
};
const NUMBERS = {
  price_input: { label: "policies.price_input", most: 100_000 },
  price_output: { label: "policies.price_output", most: 100_000 },
  price_cached: { label: "policies.price_cached", most: 100_000 },
  image_edge: { label: "policies.image_edge", most: 8_000 },
  image_pixels: { label: "policies.image_pixels", most: 64_000_000 },
} as const;
type NumberName = keyof typeof NUMBERS;

export interface ProviderValues {
  readonly key: string;
  readonly tool: string;
  readonly numbers: Readonly<Partial<Record<NumberName, number>>>;
}

export const NO_VALUES: ProviderValues = { key: "", tool: "", numbers: {} };

export const isHosted = (provider: Provider): provider is HostedProvider => provider !== "openai_compatible";

/** The settings as they are registered; null while one of the two prices is missing. */
export function providerSettings({ tool, numbers }: ProviderValues): NonNullable<RevisionRegistration["provider_settings"]> | null {
  const { price_input: input, price_output: output, price_cached: cached, ...sizes } = numbers;
  if ((input === undefined) !== (output === undefined)) return null;
  const prices = input === undefined || output === undefined ? {} : { prices: { input, output, ...(cached === undefined ? {} : { cached_input: cached }) } };
  return { ...(tool === "" ? {} : { computer_tool: tool }), ...sizes, ...prices };
}

/** The fields of stored settings. The key is not shown to anybody. */
export function valuesOf(settings: Readonly<Record<string, unknown>>): ProviderValues {
  const prices = (settings.prices ?? {}) as { input?: number; output?: number; cached_input?: number };
  const found: Record<NumberName, unknown> = {
    price_input: prices.input,
    price_output: prices.output,
    price_cached: prices.cached_input,
    image_edge: settings.image_edge,
    image_pixels: settings.image_pixels,
  };
  const numbers = Object.fromEntries(Object.entries(found).filter(([, value]) => typeof value === "number"));
  return { key: "", tool: typeof settings.computer_tool === "string" ? settings.computer_tool : "", numbers };
}

type Props = { readonly provider: Provider; readonly values: ProviderValues; readonly onChange: (values: ProviderValues) => void };

export function ProviderFields({ provider, values, onChange }: Props) {
  const { t } = useI18n();
  return (
    <Stack gap="sm">
      <PasswordInput
        label={t("policies.api_key")}
        description={t("policies.api_key.help")}
        value={values.key}
        onChange={(event) => onChange({ ...values, key: event.currentTarget.value })}
        autoComplete="off"
      />
      {isHosted(provider) && <HostedFields provider={provider} values={values} onChange={onChange} />}
    </Stack>
  );
}

function HostedFields({ provider, values, onChange }: Props & { readonly provider: HostedProvider }) {
  const { t } = useI18n();
  const number = (name: NumberName) => (
    <NumberInput
      key={name}
      label={t(NUMBERS[name].label)}
      value={values.numbers[name] ?? ""}
      onChange={(value) => onChange({ ...values, numbers: withNumber(values.numbers, name, value) })}
      min={0}
      max={NUMBERS[name].most}
      allowDecimal={name.startsWith("price")}
    />
  );
  return (
    <>
      <Text size="sm">{t("policies.provider.help")}</Text>
      <NativeSelect
        label={t("policies.computer_tool")}
        description={t("policies.computer_tool.help")}
        value={values.tool || COMPUTER_TOOLS[provider][0]}
        onChange={(event) => onChange({ ...values, tool: event.currentTarget.value })}
        data={[...COMPUTER_TOOLS[provider]]}
      />
      <Text size="sm">{t("policies.prices.help")}</Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>{(["price_input", "price_output", "price_cached"] as const).map(number)}</SimpleGrid>
      {providerSettings(values) === null && (
        <Text size="sm" c="var(--ph-warn)" role="alert">
          {t("policies.prices.both")}
        </Text>
      )}
      <Text size="sm">{t("policies.image.help")}</Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>{(["image_edge", "image_pixels"] as const).map(number)}</SimpleGrid>
    </>
  );
}

function withNumber(numbers: ProviderValues["numbers"], name: NumberName, value: string | number): ProviderValues["numbers"] {
  const { [name]: _before, ...others } = numbers;
  return typeof value === "number" ? { ...others, [name]: value } : others;
}
