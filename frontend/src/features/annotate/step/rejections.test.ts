import { expect, it } from "vitest";

import { en } from "@/shared/i18n/en";

import { REJECTION_CODES } from "./rejections";

it("knows every refusal that has words", () => {
  const worded = Object.keys(en).filter((name) => name.startsWith("refused."));
  expect([...REJECTION_CODES, "cannot_restore"].map((code) => `refused.${code}`).toSorted()).toEqual(worded.toSorted());
});
