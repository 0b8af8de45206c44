/** The language of the page: a typed `t(key, values)` and the formats that go with it. */
import { createContext, useContext, useEffect, useMemo, type ReactNode } from "react";

import { en } from "@/shared/i18n/en";
import { dateFormat, numberFormat, relativeFormat } from "@/shared/i18n/intl";
import { format, type Message, type ParametersOf } from "@/shared/i18n/messages";
import { zh } from "@/shared/i18n/zh";

export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];
type MessageKey = keyof typeof en;

type Arguments<K extends MessageKey> = [ParametersOf<(typeof en)[K]>] extends [never]
  ? []
  : [values: Readonly<Record<ParametersOf<(typeof en)[K]>, string | number>>];

/** The text of a message; asking for an unknown key or leaving out a parameter fails the type check. */
export type Translate = <K extends MessageKey>(key: K, ...values: Arguments<K>) => string;

/** Messages without parameters: those that may be chosen by data, such as a command's name. */
export type PlainKey = { [K in MessageKey]: [ParametersOf<(typeof en)[K]>] extends [never] ? K : never }[MessageKey];

const CATALOGUES: Record<Language, Record<MessageKey, Message>> = { en, zh };
const LOCALES: Record<Language, string> = { en: "en", zh: "zh-CN" };

/** The reader's own variety of a language, such as en-GB, whose dates and numbers differ; else the usual one. */
export const localeOf = (language: Language, languages: readonly string[] = typeof navigator === "undefined" ? [] : navigator.languages): string =>
  languages.find((each) => new RegExp(`^${language}(-|$)`, "i").test(each) && Intl.DateTimeFormat.supportedLocalesOf(each).length > 0) ??
  LOCALES[language];

export type I18n = {
  language: Language;
  t: Translate;
  /** "3 minutes ago", "in 5 seconds". */
  relative: (at: string | number, now?: number) => string;
  /** Date and time, short. */
  moment: (at: string | number) => string;
  /** The time of day, with seconds. */
  time: (at: string | number) => string;
  /** A length of time in milliseconds: "640 ms", "3.2 s", "4 min". */
  duration: (ms: number) => string;
  /** A figure with the marks of its thousands, exactly `digits` behind the point where they are given; a dash where there is none. */
  number: (value: number | null | undefined, digits?: number) => string;
  /** A figure as `number` has it, with its sign. */
  signed: (value: number, digits?: number) => string;
  /** A figure of the size of which nothing is known: three digits that count. */
  rounded: (value: number) => string;
  percent: (share: number, digits?: number) => string;
  bytes: (count: number) => string;
};

/** The formats of one language; pure, so that tests and pure functions can use it without a page. */
export function i18nFor(language: Language): I18n {
  const locale = localeOf(language);
  const catalogue = CATALOGUES[language];
  const number = numberFormat(locale, { maximumFractionDigits: 1 });
  return {
    language,
    t: (key, ...[values]) => format(catalogue[key], (values ?? {}), locale),
    relative: (at, now = Date.now()) => relativeTime(new Date(at).getTime() - now, locale),
    moment: (at) => dateFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at)),
    time: (at) => dateFormat(locale, { timeStyle: "medium" }).format(new Date(at)),
    duration: (ms) => {
      if (ms < 1_000) return `${number.format(Math.round(ms))} ms`;
      if (ms < 120_000) return `${number.format(ms / 1_000)} s`;
      return `${number.format(Math.round(ms / 60_000))} min`;
    },
    number: (value, digits) => (value == null ? "–" : numberFormat(locale, digitsOf(digits, 20)).format(value)),
    signed: (value, digits) => numberFormat(locale, { ...digitsOf(digits, 20), signDisplay: "exceptZero" }).format(value),
    rounded: (value) => numberFormat(locale, { maximumSignificantDigits: 3 }).format(value),
    percent: (share, digits) => numberFormat(locale, { style: "percent", ...digitsOf(digits, 0) }).format(share),
    bytes: (count) => {
      const power = count < 1 ? 0 : Math.min(4, Math.floor(Math.log2(count) / 10));
      return `${number.format(count / 1024 ** power)} ${["B", "KiB", "MiB", "GiB", "TiB"][power] ?? ""}`;
    },
  };
}

const digitsOf = (digits: number | undefined, most: number): Intl.NumberFormatOptions => ({
  minimumFractionDigits: digits ?? 0,
  maximumFractionDigits: digits ?? most,
});

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

function relativeTime(ms: number, locale: string): string {
  const [unit, length] = STEPS.find(([, size]) => Math.abs(ms) >= size) ?? (["second", 1_000] as const);
  return relativeFormat(locale, { numeric: "auto", style: "short" }).format(Math.trunc(ms / length), unit);
}

/** The language a browser asks for. */
export function preferredLanguage(languages: readonly string[] = navigator.languages): Language {
  const wanted = languages.map((language) => language.slice(0, 2).toLowerCase());
  return wanted.find((language): language is Language => (LANGUAGES as readonly string[]).includes(language)) ?? "en";
}

const I18nContext = createContext<I18n>(i18nFor("en"));

export function I18nProvider({ language, children }: { language: Language; children: ReactNode }) {
  useEffect(() => {
    document.documentElement.lang = LOCALES[language];
  }, [language]);
  const value = useMemo(() => i18nFor(language), [language]);
  return <I18nContext value={value}>{children}</I18nContext>;
}

export const useI18n = () => useContext(I18nContext);
