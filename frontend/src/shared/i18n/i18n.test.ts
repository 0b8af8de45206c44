/** The catalogues say the same things, and the formats speak both languages. */
import { describe, expect, it } from "vitest";

import { en } from "./en";
import { i18nFor, preferredLanguage } from "./i18n";
import type { Message } from "./messages";
import { zh } from "./zh";

const catalogues: Record<string, Record<string, Message>> = { en, zh };
const parameters = (message: Message) =>
  [...(typeof message === "string" ? message : message.other).matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe("catalogues", () => {
  it("hold the same messages", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it("take the same parameters", () => {
    const different = Object.entries(en).filter(([key, message]) => {
      const chinese = catalogues.zh?.[key];
      return !chinese || String(parameters(chinese)) !== String(parameters(message));
    });
    expect(different.map(([key]) => key)).toEqual([]);
  });

  it("have a singular where they count things", () => {
    const counting = Object.entries(en).filter(([, message]) => typeof message === "string" && /\{count\} (?!of |in |or )([a-z]+ )*?[a-z]{2,}s\b/.test(message));
    expect(counting.map(([key]) => key)).toEqual([]);
  });

  it("leave no text empty", () => {
    for (const catalogue of Object.values(catalogues)) {
      expect(Object.entries(catalogue).filter(([, message]) => message === "")).toEqual([]);
    }
  });
});

describe("i18n", () => {
  const [english, chinese] = [i18nFor("en"), i18nFor("zh")];

  it("chooses the plural", () => {
    expect(english.t("queue.waiting", { count: 1 })).toBe("1 task waits for you");
    expect(english.t("queue.waiting", { count: 2 })).toBe("2 tasks wait for you");
    expect(chinese.t("queue.waiting", { count: 2 })).toBe("有 2 个任务等你处理");
  });

  it("writes braces of a value as they are", () => {
    expect(english.t("action.type_text", { text: "{at}" })).toBe("Type “{at}”");
  });

  it("tells how long ago", () => {
    const now = Date.parse("2026-01-01T12:00:00Z");
    expect(english.relative("2026-01-01T11:57:30Z", now)).toBe("2 min. ago");
    expect(chinese.relative("2026-01-01T11:57:30Z", now)).toBe("2分钟前");
  });

  it("writes lengths of time and sizes for people", () => {
    expect([84.4, 3_210, 600_000].map(english.duration)).toEqual(["84 ms", "3.2 s", "10 min"]);
    expect([0, 1_023, 260_400_000].map(english.bytes)).toEqual(["0 B", "1,023 B", "248.3 MiB"]);
  });

  it("speaks what the browser asks for, else English", () => {
    expect(preferredLanguage(["fr-FR", "zh-TW"])).toBe("zh");
    expect(preferredLanguage(["fr"])).toBe("en");
  });
});
