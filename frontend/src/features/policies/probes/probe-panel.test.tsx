/** The panel that tries a model: it starts and cancels, shows how far it is, and what is wrong, in words and in the picture. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ProbeOut } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";

import { ProbePanel } from "./probe-panel";

const ENDPOINT = { base_url: "http://127.0.0.1:8000/v1", model: "tars", dialect: "ui_tars_1_5" } as const;
const PROBE: ProbeOut = {
  id: "p1",
  base_url: ENDPOINT.base_url,
  model: ENDPOINT.model,
  dialect: ENDPOINT.dialect,
  provider: "openai_compatible",
  provider_settings: {},
  prompt: null,
  screens: "desktop",
  reason: "requested",
  status: "done",
  answered: 54,
  questions: 54,
  error: "",
  created_at: "2026-11-28T10:00:00Z",
  finished_at: "2026-11-28T10:00:20Z",
  report: {
    format: "pilothouse-probe-1",
    base_url: ENDPOINT.base_url,
    model: ENDPOINT.model,
    dialect: ENDPOINT.dialect,
    began_at: "2026-11-28T10:00:00Z",
    seconds: 18.2,
    server: {
      version: "0.12",
      weight_version: "2",
      models: [],
      context_tokens: 32_768,
      answers_picture: true,
      several_choices: true,
      logprobs: true,
      token_ids: true,
      reasoning: false,
      images: 4,
      health_ms: 210,
      first_token_ms: 95,
    },
    grounding: {
      screens: "desktop",
      points: [
        {
          screen: "desktop-1280x720-0.png",
          width: 1280,
          height: 720,
          instruction: 'Click the button "Save".',
          box: { left: 10, top: 10, right: 90, bottom: 40 },
          x: 600,
          y: 300,
          hit: false,
          error: "",
          reply: "Action: click(600, 300)",
        },
      ],
      rate: { successes: 0, attempts: 1, rate: 0, low: 0, high: 0.79 },
      mean_error_px: 400.2,
      mean_error_ci_px: null,
    },
    dialects: [{ dialect: ENDPOINT.dialect, questions: 1, read: 1, hits: 0, own_prompt: true }],
    fingerprint: [],
    findings: [{ code: "wrong_space", severity: "error", message: "Its points are thousandths of the screen." }],
  },
};


type Sent = { method: string; path: string; body: unknown };

function open(probes: readonly ProbeOut[], language: Language = "en") {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", (url: string, { method = "GET", body }: RequestInit) => {
    const path = url.replace(/^\/api/, "");
    if (method !== "GET") sent.push({ method, path, body: typeof body === "string" ? JSON.parse(body) : null });
    if (method === "DELETE") return Promise.resolve(new Response(null, { status: 204 }));
    const answer = path === "/probes" && method === "GET" ? probes : PROBE;
    return Promise.resolve(new Response(JSON.stringify(answer), { status: 200 }));
  });
  const { container } = render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <I18nProvider language={language}>
          <ProbePanel endpoint={ENDPOINT} />
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { user: userEvent.setup(), sent, container };
}

afterEach(() => vi.unstubAllGlobals());

describe("the probe of a model", () => {
  it("starts one on the chosen screens", async () => {
    const { user, sent } = open([]);
    await user.selectOptions(screen.getByLabelText("Screens"), "small");
    await user.click(screen.getByRole("button", { name: "Try it" }));
    await waitFor(() => expect(sent).toEqual([{ method: "POST", path: "/probes", body: { ...ENDPOINT, screens: "small" } }]));
  });

  it("shows how far one is, and cancels it", async () => {
    const { user, sent } = open([{ ...PROBE, status: "running", answered: 12, report: null }]);
    expect(await screen.findByRole("status")).toBeDefined();
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(sent).toEqual([{ method: "DELETE", path: "/probes/p1", body: null }]));
  });

  it("says what is wrong, in words and where the clicks land", async () => {
    const { container } = open([PROBE]);
    expect(await screen.findByText("Its points are thousandths of the screen.", { exact: false })).toBeDefined();
    expect(screen.getByText("Wrong coordinate space")).toBeDefined();
    expect(screen.getByText("missed")).toBeDefined();
    expect(container.querySelector("circle")?.getAttribute("cx")).toBe("600");
    expect((await axe.run(container, { rules: { region: { enabled: false } } })).violations).toEqual([]);
  });

  it("speaks Chinese", async () => {
    open([PROBE], "zh");
    expect(await screen.findByText("坐标空间不对")).toBeDefined();
  });
});
