/** The line of a terminal is completed by the machine's shell. */
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";

import { commonBeginning } from "@/features/annotate/step/shell-completion";

import { Prompt } from "./prompt";

const FILES = ["notes.md", "notes.txt", "report.ods"];

function renderPrompt() {
  const [onSubmit, onLeave] = [vi.fn(), vi.fn()];
  const onComplete = vi.fn((line: string) => {
    const labels = FILES.filter((name) => name.startsWith(line.slice(4)));
    return Promise.resolve(labels.length > 0 ? { labels, lines: labels.map((name) => `cat ${name}`), more: false } : null);
  });
  render(
    <MantineProvider env="test">
      <Prompt ref={null} sign="$" label="Line" disabled={false} history={["ls"]} onSubmit={onSubmit} onInterrupt={null} onLeave={onLeave} onComplete={onComplete} />
      <button>Next</button>
    </MantineProvider>,
  );
  return { line: screen.getByRole<HTMLInputElement>("textbox", { name: "Line" }), user: userEvent.setup(), onSubmit, onLeave, onComplete };
}

describe("Tab in the line of a terminal", () => {
  it("writes the one option", async () => {
    const { line, user } = renderPrompt();
    await user.type(line, "cat r{Tab}");
    await vi.waitFor(() => expect(line.value).toBe("cat report.ods"));
    expect(document.activeElement).toBe(line);
    expect(screen.queryByRole("option")).toBeNull();
  });

  it("writes what all options begin with and lists them; arrows choose, Tab takes", async () => {
    const { line, user, onSubmit } = renderPrompt();
    await user.type(line, "cat n{Tab}");
    expect((await screen.findAllByRole("option")).map(({ textContent }) => textContent)).toEqual(["notes.md", "notes.txt"]);
    expect(line.value).toBe("cat notes.");
    expect(screen.getByRole("status").textContent).toBe("Completions: 2");
    await user.keyboard("{ArrowDown}{ArrowDown}{Tab}");
    expect(line.value).toBe("cat notes.txt");
    await user.keyboard("{Enter}");
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith("cat notes.txt");
  });

  it("takes a chosen option with Enter, which no other handler hears", async () => {
    const { line, user, onSubmit } = renderPrompt();
    const heard = vi.fn();
    line.ownerDocument.body.addEventListener("keydown", heard);
    await user.type(line, "cat n{Tab}");
    await screen.findAllByRole("option");
    heard.mockClear();
    await user.keyboard("{ArrowDown}{Enter}");
    expect(line.value).toBe("cat notes.md");
    expect(onSubmit).not.toHaveBeenCalled();
    expect(heard).not.toHaveBeenCalled();
  });

  it("leaves the list with Escape, and the line with the next one", async () => {
    const { line, user, onLeave } = renderPrompt();
    await user.type(line, "cat n{Tab}");
    await screen.findAllByRole("option");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("option")).toBeNull();
    expect(onLeave).not.toHaveBeenCalled();
    await user.keyboard("{Escape}");
    expect(onLeave).toHaveBeenCalledOnce();
  });

  it("says that there is nothing, and moves on from an empty line", async () => {
    const { line, user, onComplete } = renderPrompt();
    await user.type(line, "cat x{Tab}");
    await vi.waitFor(() => expect(screen.getByRole("status").textContent).toBe("Completions: 0"));
    expect(line.value).toBe("cat x");
    await user.clear(line);
    await user.tab();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Next" }));
    expect(onComplete).toHaveBeenCalledOnce();
  });

  it.each([[["report.ods"]], [["report.ods", "report.txt"]]])("writes nothing while there are more options than %s", async (labels) => {
    const { line, user, onComplete } = renderPrompt();
    onComplete.mockResolvedValueOnce({ labels, lines: labels.map((name) => `cat ${name}`), more: true });
    await user.type(line, "cat r{Tab}");
    expect((await screen.findAllByRole("option")).map(({ textContent }) => textContent)).toEqual(labels);
    expect(line.value).toBe("cat r");
    expect(screen.getByRole("status").textContent).toBe(`Completions: ${labels.length}+`);
    expect(screen.getByText("There are more. Type on to narrow the list.")).toBeTruthy();
  });

  it("moves on from inside the line, and says how to leave it", async () => {
    const { line, user, onComplete } = renderPrompt();
    await user.type(line, "cat r{ArrowLeft}");
    await user.tab();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Next" }));
    expect(onComplete).not.toHaveBeenCalled();
    expect(document.getElementById(line.getAttribute("aria-describedby") ?? "")?.textContent).toContain("Shift+Tab");
  });

  it("drops an answer to a line that was written on", async () => {
    const { line, user, onComplete } = renderPrompt();
    let answer: (lines: null | { labels: string[]; lines: string[]; more: boolean }) => void = () => undefined;
    onComplete.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    await user.type(line, "cat r{Tab}x");
    answer({ labels: ["report.ods"], lines: ["cat report.ods"], more: false });
    await user.type(line, "y");
    expect(line.value).toBe("cat rxy");
  });
});

it("knows what texts have in common", () => {
  expect(commonBeginning([])).toBe("");
  expect(commonBeginning(["cat a", "cat b"])).toBe("cat ");
});
