/** One marker as SVG: click ring, drag arrow, scroll chevron, typed-text caret, gesture path. */
import type { Direction, Point } from "@/generated/vocabulary";

import type { Marker, RingGlyph } from "./marker";

const ORIGIN: Point = { x: 0, y: 0 };

/** `row` counts the markers before this one at the same place: their words stand below each other. */
export function MarkerShape({ marker, row = 0 }: { marker: Marker; row?: number }) {
  switch (marker.shape) {
    case "ring":
      return <><Ring at={marker.at ?? ORIGIN} glyph={marker.glyph} /><Note at={marker.at ?? ORIGIN} text={marker.note} /></>;
    case "arrow":
      return <Arrow from={marker.from} to={marker.to} />;
    case "chevron":
      return <><Chevron at={marker.at ?? ORIGIN} direction={marker.direction} amount={marker.amount} /><Note at={marker.at ?? ORIGIN} text={marker.note} /></>;
    case "caret":
      return <Caret at={marker.at ?? ORIGIN} text={marker.text} row={row} />;
    case "path":
      return <Path points={marker.points} ends={marker.ends === true} note={marker.note} />;
  }
}

/** Held keys and the like, below a marker. */
function Note({ at: { x, y }, text }: { at: Point; text: string | undefined }) {
  return text === undefined || text === "" ? null : <text className="note" x={x} y={y + 33}>{text}</text>;
}

/** A line through points; one that `ends` somewhere has its beginning, its corners and an arrow. */
function Path({ points, ends, note }: { points: readonly Point[]; ends: boolean; note: string | undefined }) {
  const line = <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />;
  const [first = ORIGIN] = points;
  const [before = ORIGIN, last = ORIGIN] = points.slice(-2);
  if (!ends || points.length < 2) return <>{line}{points.length === 1 && <circle cx={first.x} cy={first.y} r={6} />}<Note at={first} text={note} /></>;
  const angle = (Math.atan2(last.y - before.y, last.x - before.x) * 180) / Math.PI;
  return (
    <>
      {line}
      <circle cx={first.x} cy={first.y} r={6} />
      {points.slice(1, -1).map(({ x, y }, index) => <circle key={index} cx={x} cy={y} r={3} />)}
      <path d="M-11 -6L0 0L-11 6" transform={`translate(${last.x} ${last.y}) rotate(${angle})`} />
      <Note at={first} text={note} />
    </>
  );
}

/** Radii (CSS pixels): a target of 24 pixels, the least of WCAG 2.2, stays to be seen inside. */
const RINGS: Readonly<Record<RingGlyph, readonly number[]>> = {
  click: [14],
  double: [14, 18],
  triple: [14, 18, 22],
  right: [14],
  middle: [14],
  move: [],
  down: [14],
  up: [14],
  hold: [14, 19],
};

/** Its lines lie around the place, so that what is there can be judged. */
function Ring({ at: { x, y }, glyph }: { at: Point; glyph: RingGlyph }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      {RINGS[glyph].map((radius) => (
        <circle key={radius} r={radius} />
      ))}
      {glyph !== "move" && <path d="M-19 0H-12M12 0H19M0 -19V-12M0 12V19" />}
      {glyph === "right" && <path d="M0 -14A14 14 0 0 1 0 14" strokeWidth={5} />}
      {glyph === "middle" && <path d="M-3 -14H3" strokeWidth={6} />}
      {glyph === "down" && <path d="M-4 21L0 25L4 21" />}
      {glyph === "up" && <path d="M-4 25L0 21L4 25" />}
      {glyph === "move" && <path d="M-12 -4L-16 0L-12 4M12 -4L16 0L12 4M-4 -12L0 -16L4 -12M-4 12L0 16L4 12" />}
    </g>
  );
}

function Arrow({ from, to }: { from: Point; to: Point }) {
  const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
  return (
    <>
      <circle cx={from.x} cy={from.y} r={6} />
      <path d={`M${from.x} ${from.y}L${to.x} ${to.y}`} />
      <path d="M-11 -6L0 0L-11 6" transform={`translate(${to.x} ${to.y}) rotate(${angle})`} />
    </>
  );
}

const ROTATION: Readonly<Record<Direction, number>> = { down: 0, left: 90, up: 180, right: 270 };

function Chevron({ at: { x, y }, direction, amount }: { at: Point; direction: Direction; amount: number }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <circle r={13} />
      <path d="M-5 -5L0 0L5 -5M-5 1L0 6L5 1" transform={`rotate(${ROTATION[direction]})`} />
      {amount > 1 && (
        <text className="note" x={0} y={25}>
          ×{amount}
        </text>
      )}
    </g>
  );
}

const MAX_LENGTH = 28;
const LINE_HEIGHT = 17;

function Caret({ at: { x, y }, text, row }: { at: Point; text: string; row: number }) {
  const line = text.replaceAll("\n", "⏎");
  return (
    <g transform={`translate(${x} ${y})`}>
      <path d="M-4 -11H4M0 -11V11M-4 11H4" />
      <text className="note" x={10} y={24 + row * LINE_HEIGHT} textAnchor="start">
        {line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line}
      </text>
    </g>
  );
}
