/** Which apps are offered while a name is being typed. */
import { expect, it } from "vitest";

import { appsMatching } from "./apps";

const APPS = ["Contacts", "World Clock", "Calculator", "计算器"];

it("offers all of them at first, then those with a word that begins so", () => {
  expect(appsMatching(APPS, "")).toEqual(APPS);
  expect(appsMatching(APPS, " c")).toEqual(["Contacts", "World Clock", "Calculator"]);
  expect(appsMatching(APPS, "world cl")).toEqual(["World Clock"]);
  expect(appsMatching(APPS, "计算")).toEqual(["计算器"]);
  expect(appsMatching(APPS, "lock")).toEqual([]);
});
