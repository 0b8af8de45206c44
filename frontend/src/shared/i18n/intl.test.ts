/** Formats are made once for a locale and its options. */
import { describe, expect, it } from "vitest";

import { dateFormat, numberFormat, pluralRules, relativeFormat } from "./intl";

describe("the browser's formats", () => {
  it("are made once for a locale and options", () => {
    expect(numberFormat("en", { maximumFractionDigits: 1 })).toBe(numberFormat("en", { maximumFractionDigits: 1 }));
    expect(relativeFormat("en", { style: "short" })).toBe(relativeFormat("en", { style: "short" }));
  });

  it("are others for another locale or other options", () => {
    expect(numberFormat("de", { minimumFractionDigits: 1 }).format(1.5)).toBe("1,5");
    expect(numberFormat("en", { minimumFractionDigits: 2 }).format(1.5)).toBe("1.50");
    expect(dateFormat("en-GB", { dateStyle: "short" }).format(new Date(2026, 0, 2))).toBe("02/01/2026");
    expect([pluralRules("en").select(1), pluralRules("zh").select(1)]).toEqual(["one", "other"]);
  });
});
