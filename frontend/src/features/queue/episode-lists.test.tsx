/** The lists of a person's own episodes. */
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";

import type { EpisodeSummary } from "@/generated/api";

import { RecentList } from "./episode-lists";

const EPISODE = {
  ...{ id: "e1", instruction: "Rename report.txt.", status: "finished", outcome: "success", verdict: null, pool: "Desktop", steps: 3 },
  ...{ review: "pending", review_reason: "", created_at: "2026-01-02T03:04:05Z", finished_at: "2026-01-02T03:05:05Z" },
} as unknown as EpisodeSummary;

it("shows that an episode was rejected and why, and no reason that was overcome", () => {
  const rejected = { ...EPISODE, id: "e2", review: "rejected", review_reason: "Another file was renamed." } as EpisodeSummary;
  const accepted = { ...EPISODE, id: "e3", review: "accepted", review_reason: "Say why." } as EpisodeSummary;
  render(
    <MantineProvider>
      <MemoryRouter>
        <RecentList episodes={[EPISODE, rejected, accepted]} />
      </MemoryRouter>
    </MantineProvider>,
  );
  expect(screen.getByText("Rejected")).toBeDefined();
  expect(screen.getByText("Another file was renamed.")).toBeDefined();
  expect(screen.queryByText("Say why.")).toBeNull();
});
