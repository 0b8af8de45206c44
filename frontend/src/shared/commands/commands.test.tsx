/** Commands as a person meets them: a key runs what is live, and typing is never taken for a command. */
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";

import { conflictsOf, type Binding, type Command, type KeyMap } from "./command";
import { CommandsProvider, useCommands } from "./commands";

const next: Command = { id: "t.next", scope: "queue", name: "queue.next", help: "queue.next.help", keys: ["N"] };
const find: Command = { id: "t.find", scope: "global", name: "global.palette", help: "global.palette.help", keys: ["Mod+K"], whileTyping: true };
const enter: Command = { id: "t.enter", scope: "queue", name: "queue.resume", help: "queue.resume.help", keys: ["Enter"] };

function Screen({ bindings }: { bindings: Binding[] }) {
  useCommands(bindings);
  return (
    <>
      <input aria-label="field" />
      <button type="button">button</button>
      <div role="dialog" aria-modal="true" aria-label="over it">
        <button type="button">inside</button>
      </div>
    </>
  );
}

function open(bindings: Binding[], keyMap: KeyMap = {}) {
  render(
    <CommandsProvider all={bindings.map(({ command }) => command)} keyMap={keyMap}>
      <Screen bindings={bindings} />
    </CommandsProvider>,
  );
  return userEvent.setup();
}

describe("a key", () => {
  it("runs its command", async () => {
    const run = vi.fn();
    await open([{ command: next, run }]).keyboard("n");
    expect(run).toHaveBeenCalledOnce();
  });

  it("runs nothing that is not enabled", async () => {
    const run = vi.fn();
    await open([{ command: next, enabled: false, run }]).keyboard("n");
    expect(run).not.toHaveBeenCalled();
  });

  it("is what the person made it", async () => {
    const run = vi.fn();
    const user = open([{ command: next, run }], { "t.next": ["X"] });
    await user.keyboard("n");
    expect(run).not.toHaveBeenCalled();
    await user.keyboard("x");
    expect(run).toHaveBeenCalledOnce();
  });

  it("is text in a text field, unless the command says otherwise", async () => {
    const [typed, found] = [vi.fn(), vi.fn()];
    const user = open([
      { command: next, run: typed },
      { command: find, run: found },
    ]);
    await user.click(screen.getByLabelText("field"));
    await user.keyboard("n{Control>}k{/Control}");
    expect(typed).not.toHaveBeenCalled();
    expect(found).toHaveBeenCalledOnce();
    expect(screen.getByLabelText("field")).toHaveProperty("value", "n");
  });

  it("belongs to an input method while it composes", () => {
    const run = vi.fn();
    open([{ command: find, run }]);
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "k", code: "KeyK", ctrlKey: true, isComposing: true }));
    expect(run).not.toHaveBeenCalled();
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "k", code: "KeyK", ctrlKey: true }));
    expect(run).toHaveBeenCalledOnce();
  });

  it("leaves Enter to the button that has the focus", async () => {
    const run = vi.fn();
    const user = open([{ command: enter, run }]);
    screen.getByRole("button", { name: "button" }).focus();
    await user.keyboard("{Enter}");
    expect(run).not.toHaveBeenCalled();
  });

  it("does nothing to the screen below a dialog", async () => {
    const run = vi.fn();
    const user = open([{ command: next, run }]);
    screen.getByRole("button", { name: "inside" }).focus();
    await user.keyboard("n");
    expect(run).not.toHaveBeenCalled();
  });

  it("undoes over a dialog, where the offer is shown above it", async () => {
    const run = vi.fn();
    const user = open([{ command: { ...next, overDialogs: true }, run }]);
    screen.getByRole("button", { name: "inside" }).focus();
    await user.keyboard("n");
    expect(run).toHaveBeenCalledOnce();
  });
});

describe("conflictsOf", () => {
  it("finds a combination two commands of one screen share, and a global one with any", () => {
    expect(conflictsOf([next, enter], {})).toEqual([]);
    expect(conflictsOf([next, enter], { "t.enter": ["N"] })).toEqual([{ combination: "N", commands: [next, enter] }]);
    expect(conflictsOf([next, find], { "t.find": ["N"] })).toHaveLength(1);
  });

  it("lets screens that are never open together use the same key", () => {
    const replay: Command = { ...next, id: "t.replay", scope: "replay" };
    expect(conflictsOf([next, replay], {})).toEqual([]);
  });
});
