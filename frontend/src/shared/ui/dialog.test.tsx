/** Dialogs over dialogs: one Escape ends one of them. */
import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";

import { I18nProvider } from "@/shared/i18n/i18n";

import { Dialog } from "./dialog";

/** The inner dialog is written first: its listener hears Escape first. */
function Nested() {
  const [outer, setOuter] = useState(true);
  const [inner, setInner] = useState(false);
  return (
    <MantineProvider>
      <I18nProvider language="en">
        <Dialog opened={inner} onClose={() => setInner(false)} title="Inner" />
        <Dialog opened={outer} onClose={() => setOuter(false)} title="Outer">
          <button onClick={() => setInner(true)}>Open</button>
        </Dialog>
      </I18nProvider>
    </MantineProvider>
  );
}

it("closes the topmost dialog alone", async () => {
  render(<Nested />);
  fireEvent.click(screen.getByText("Open"));
  await screen.findByText("Inner");
  fireEvent.keyDown(document.body, { key: "Escape" });
  await waitFor(() => expect(screen.queryByText("Inner")).toBeNull());
  expect(screen.getByText("Outer")).toBeTruthy();
  await waitFor(() => {
    fireEvent.keyDown(document.body, { key: "Escape" });
    expect(screen.queryByText("Outer")).toBeNull();
  });
});
