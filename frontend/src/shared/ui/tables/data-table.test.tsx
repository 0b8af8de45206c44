// What a table says of its rows, in columns and as cards alike.
import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { DataTable } from "./data-table";

const ROWS = [
  { name: "Mail", waiting: 5_000 },
  { name: "Files", waiting: 0 },
];

function open() {
  render(
    <MantineProvider>
      <DataTable
        label="Pools"
        rows={ROWS}
        keyOf={({ name }) => name}
        columns={[
          { header: "Pool", kind: "name", cell: ({ name }) => name },
          { header: "Waiting", kind: "number", help: "Tasks nobody has", cell: ({ waiting }) => waiting },
        ]}
        details={{
          header: "Details",
          ariaLabel: ({ name }) => `Details of ${name}`,
          hasDetails: ({ waiting }) => waiting > 0,
          body: ({ name }) => <p>All of {name}</p>,
        }}
      />
    </MantineProvider>,
  );
  return userEvent.setup();
}

it("says of each value what it is, for the eye too where it is a card", () => {
  open();
  const table = screen.getByRole("table", { name: "Pools" });
  expect(within(table).getAllByRole("columnheader").map((head) => head.textContent)).toEqual(["Pool", "Waiting", "Details"]);
  expect(screen.getByRole("columnheader", { name: "Waiting" }).title).toBe("Tasks nobody has");
  expect(screen.getByRole("cell", { name: "5,000" }).dataset.head).toBe("Waiting");
});

it("opens one row at a time, where there is something to open", async () => {
  const user = open();
  expect(screen.queryByRole("button", { name: "Details of Files" })).toBeNull();
  const opener = screen.getByRole("button", { name: "Details of Mail" });
  await user.click(opener);
  expect(screen.getByText("All of Mail")).toBeTruthy();
  expect(opener.getAttribute("aria-expanded")).toBe("true");
  await user.click(opener);
  expect(screen.queryByText("All of Mail")).toBeNull();
});
