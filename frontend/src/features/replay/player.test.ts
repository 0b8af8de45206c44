/** The replay's moves. */
import { describe, expect, it } from "vitest";

import { reducePlayer, startAt, type Move } from "./player";

const START = startAt(0);
const run = (moves: Move[], count = 3) => moves.reduce((player, move) => reducePlayer(player, move, count), START);

describe("moved", () => {
  it("steps forward, and from the last step to what it led to", () => {
    expect(run(["next", "next"])).toMatchObject({ step: 2, after: false });
    expect(run(["next", "next", "next"])).toMatchObject({ step: 2, after: true });
    expect(run(["next", "next", "next", "next"])).toMatchObject({ step: 2, after: true });
  });

  it("steps back, first from after the act to before it", () => {
    expect(run(["last", "previous"])).toMatchObject({ step: 2, after: false });
    expect(run(["last", "previous", "previous"])).toMatchObject({ step: 1, after: false });
    expect(run(["previous"])).toMatchObject({ step: 0, after: false });
  });

  it("plays to the end and stops there", () => {
    expect(run(["play", "tick", "tick"])).toMatchObject({ step: 2, after: false, playing: true });
    expect(run(["play", "tick", "tick", "tick"])).toMatchObject({ step: 2, after: true, playing: false });
  });

  it("plays again from the start once it is at the end", () => {
    expect(run(["last", "play"])).toMatchObject({ step: 0, after: false, playing: true });
  });

  it("is stopped by any move of the hand", () => {
    expect(run(["play", "next"]).playing).toBe(false);
    expect(run(["play", { to: 2 }])).toMatchObject({ step: 2, playing: false });
  });

  it("follows the video without stopping it, and counts what a hand chose", () => {
    expect(run(["video", "play", { reached: 1 }])).toMatchObject({ step: 1, playing: true, jumps: 1 });
    expect(run(["video", "play", { reached: 1 }, "next"])).toMatchObject({ step: 2, playing: false, jumps: 2 });
  });

  it("is at the end when the video is", () => {
    expect(run(["video", "play", { reached: 2 }, "stop"])).toMatchObject({ step: 2, after: true, playing: false });
    expect(run(["video", "play", { reached: 2 }, "stop", "play"])).toMatchObject({ step: 0, playing: true, video: true });
  });

  it("keeps within its speeds", () => {
    expect(run(["faster", "faster", "faster"]).speed).toBe(4);
    expect(run(["slower", "slower"]).speed).toBe(0.5);
  });

  it("has nothing to play without steps", () => {
    expect(run(["play"], 0)).toEqual(START);
    expect(run(["next"], 0).step).toBe(0);
  });
});
