import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";

import type { OpinionOut } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { IndependentReview } from "./independent-review";

const ROSA: OpinionOut = { round: null, reviewer: "Rosa", mine: false, decision: "accept", reason: "" };
const RITA: OpinionOut = { round: null, reviewer: "Rita", mine: false, decision: "reject", reason: "The wrong day." };

const show = (opinions: OpinionOut[], blind: boolean) =>
  render(
    <MantineProvider>
      <I18nProvider language="en">
        <IndependentReview details={{ opinions, blind }} />
      </I18nProvider>
    </MantineProvider>,
  );

it("tells a third reviewer what the two who disagree would decide", () => {
  show([ROSA, RITA], false);
  expect(screen.getByText("The two reviewers disagree. A third reviewer decides.")).toBeDefined();
  expect(screen.getByText("Rosa would accept it")).toBeDefined();
  expect(screen.getByText("The wrong day.")).toBeDefined();
});

it("says nothing where one reviewer decides, or both have", () => {
  show([{ ...ROSA, round: 1 }, { ...RITA, round: 1 }], false);
  expect(screen.queryByRole("status")).toBeNull();
});
