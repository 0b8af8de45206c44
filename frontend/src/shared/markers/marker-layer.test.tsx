/** Markers over a picture leave what they point at to be seen. */
import { render } from "@testing-library/react";
import { expect, it } from "vitest";

import type { Action } from "@/generated/vocabulary";

import { MarkerLayer, type Mark } from "./marker-layer";

const SIZE = { width: 640, height: 360 };
const candidate = (number: number, action: Action, dim = false): Mark => ({ key: `${number}`, action, tone: "candidate", number, dim });
const CLICK: Action = { kind: "click", x: 100, y: 100 };
const DOUBLE: Action = { kind: "double_click", x: 102, y: 100 };

/** The radii of the rings, badges left out. */
function ringsOf(marks: readonly Mark[]): number[] {
  const { container } = render(<MarkerLayer marks={marks} picture={SIZE} displaySize={SIZE} focus={null} />);
  const circles = [...container.querySelectorAll("g > circle")].filter((circle) => circle.nextElementSibling?.tagName !== "text");
  return circles.map((circle) => Number(circle.getAttribute("r")));
}

it("leaves a target of 24 pixels free inside each ring", () => {
  for (const kind of ["click", "double_click", "triple_click", "right_click", "middle_click", "long_press"] as const) {
    const action: Action = kind === "long_press" ? { kind, x: 100, y: 100, seconds: 1 } : { kind, x: 100, y: 100 };
    expect(Math.min(...ringsOf([candidate(1, action)]))).toBeGreaterThan(12);
  }
});

it("draws one ring for candidates at one place, and the one that is looked at", () => {
  expect(ringsOf([candidate(1, CLICK), candidate(2, DOUBLE)])).toHaveLength(1);
  expect(ringsOf([candidate(1, CLICK), candidate(2, { ...DOUBLE, x: 140 })])).toHaveLength(3);
  expect(ringsOf([candidate(1, CLICK, true), candidate(2, DOUBLE)])).toHaveLength(3);
});
