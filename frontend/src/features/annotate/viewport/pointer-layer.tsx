/** Pointing at the picture with a mouse, a finger or the arrow keys; what was meant becomes the draft. */
import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { useEventListener, useMergedRef } from "@mantine/hooks";

import type { Action, Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, pixelAt, type Box, type Size } from "@/shared/markers/mapping";
import { useDesk } from "@/features/annotate/use-workspace";

import { Crosshair } from "./crosshair";
import { DragTrail, type Trail } from "./drag-trail";
import { gesture, HOLD_AFTER, IDLE, type Input, type State } from "./gestures";
import { PointMenu } from "./point-menu";
import { steer, type Steering } from "./crosshair-keys";
import { buttonNumbered } from "./takeover";
import styles from "./viewport.module.css";

interface Props {
  readonly picture: Size;
  readonly shown: Size;
  readonly source: CanvasImageSource | null;
}

export function PointerLayer({ picture, shown, source }: Props) {
  const { t } = useI18n();
  const desk = useDesk();
  const state = useRef<State>(IDLE);
  const holding = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [pixel, setPixel] = useState<Point | null>(null);
  const [steering, setSteering] = useState<Steering | null>(null);
  const [menu, setMenu] = useState<Point | null>(null);
  const [dragFrom, setDragFrom] = useState<Point | null>(null);
  const [trail, setTrail] = useState<Trail | null>(null);
  const touch = desk.episode.task.platform === "phone";
  const active = desk.mine && desk.looking === null;

  const feed = (input: Input) => {
    const result = gesture(state.current, input, touch);
    state.current = result.state;
    setTrail(result.state.name === "dragging" ? { from: result.state.from, to: result.state.to } : null);
    if (result.outcome.type === "menu") setMenu(result.outcome.pixel);
    if (result.outcome.type === "action") {
      setDragFrom(null);
      desk.propose(result.outcome.action, result.outcome.final);
    }
  };

  const read = (event: PointerEvent<HTMLDivElement> | WheelEvent) => {
    const box = boxOf(event.currentTarget as HTMLElement);
    const place = { x: event.clientX, y: event.clientY };
    return { inside: pixelAt(place, box, picture), pointer: { place, pixel: nearestPixel(place, box, picture), at: event.timeStamp } };
  };

  const down = (event: PointerEvent<HTMLDivElement>) => {
    const button = buttonNumbered(event.button);
    if (!active || button === null) return;
    const { pointer } = read(event);
    if (button === "left" && desk.lineRef.current?.takePoint(pointer.pixel) === true) {
      event.preventDefault();
      return;
    }
    desk.stageRef.current?.focus({ preventScroll: true });
    event.currentTarget.setPointerCapture(event.pointerId);
    clearTimeout(holding.current);
    holding.current = setTimeout(() => feed({ type: "held" }), HOLD_AFTER);
    feed({ type: "down", button, ...pointer });
  };

  const move = (event: PointerEvent<HTMLDivElement>) => {
    const { inside, pointer } = read(event);
    setPixel(inside);
    setSteering(null);
    if (active) feed({ type: "move", ...pointer });
  };

  const up = (event: PointerEvent<HTMLDivElement>) => {
    clearTimeout(holding.current);
    if (active) feed({ type: "up", ...read(event).pointer });
  };

  const cancel = () => {
    clearTimeout(holding.current);
    feed({ type: "cancel" });
  };

  const wheel = useEventListener("wheel", (event) => {
    if (!active || event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 100 / 3 : 1;
    feed({ type: "wheel", dx: event.deltaX * unit, dy: event.deltaY * unit, ...read(event).pointer });
  }, { passive: false });
  const ref = useMergedRef(desk.stageRef, wheel);

  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing;
    if (active && !modified && (steered(event) || pressed(event))) event.preventDefault();
  };

  const steered = (event: KeyboardEvent): boolean => {
    const from = steering ?? { pixel: pixel ?? middleOf(picture), repeats: 0 };
    const next = steer(from, event.key, event.repeat, event.shiftKey, picture);
    if (next !== null) setSteering(next);
    return next !== null;
  };

  const pressed = (event: KeyboardEvent): boolean => {
    if (steering === null) return false;
    if (event.key === "Enter" && desk.drafted === null) point(steering.pixel, event.shiftKey);
    else if (event.key === "m" || event.key === "ContextMenu") setMenu(steering.pixel);
    else return false;
    return true;
  };

  /** Enter on the crosshair: ends a drag that was begun, else a click, with Shift a right click or a long press. */
  const point = (at: Point, right: boolean) => {
    if (dragFrom !== null) {
      desk.propose(touch ? { kind: "swipe", start: dragFrom, end: at } : { kind: "drag", start: dragFrom, end: at, button: "left" }, true);
      setDragFrom(null);
    } else if (desk.lineRef.current?.takePoint(at) !== true) {
      desk.propose(tapOf(at, right, touch), true);
    }
  };

  const shownPixel = steering?.pixel ?? pixel;
  return (
    <>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the picture of a machine is worked on with pointer and keys */}
      <div
        ref={ref}
        className={styles.pointer}
        role="application"
        aria-label={t("stage.point")}
        aria-describedby="stage-point-help"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- so that the crosshair can be moved by keys
        tabIndex={0}
        data-active={active || undefined}
        data-autofocus
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={cancel}
        onPointerLeave={() => setPixel(null)}
        onContextMenu={(event) => event.preventDefault()}
        onKeyDown={key}
      />
      <span id="stage-point-help" hidden>
        {t(touch ? "phone.point.help" : "stage.point.help")}
      </span>
      {trail !== null && <DragTrail trail={trail} picture={picture} shown={shown} />}
      {active && shownPixel !== null && <Crosshair pixel={shownPixel} picture={picture} shown={shown} source={source} />}
      <PointMenu
        pixel={menu}
        picture={picture}
        onClose={() => setMenu(null)}
        onDragFrom={(from) => {
          setDragFrom(from);
          setSteering({ pixel: from, repeats: 0 });
        }}
      />
      {dragFrom !== null && <span className={styles.hint}>{t("stage.drag_to")}</span>}
    </>
  );
}

/** What Enter does at the crosshair, and with Shift: a finger has no second button but can stay. */
function tapOf(at: Point, other: boolean, touch: boolean): Action {
  if (!other) return { kind: "click", ...at };
  return touch ? { kind: "long_press", ...at, seconds: 1 } : { kind: "right_click", ...at };
}

function boxOf(element: HTMLElement): Box {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { left, top, width, height };
}

function middleOf(picture: Size): Point {
  return { x: Math.floor(picture.width / 2), y: Math.floor(picture.height / 2) };
}
