/** Pointing at the picture with a mouse, a finger or the arrow keys; what was meant becomes the draft. */
import { useRef, useState, type KeyboardEvent, type MouseEvent, type PointerEvent } from "react";
import { useEventListener, useMergedRef } from "@mantine/hooks";

import type { Action, Point } from "@/generated/vocabulary";
import { withHeldKeys } from "@/shared/actions/held";
import { modifiersOf } from "@/shared/actions/keys";
import { formatKeys } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, pixelAt, type Box, type Size } from "@/shared/markers/mapping";
import { anchorOf, markerOf } from "@/shared/markers/marker";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { Crosshair } from "./crosshair";
import { DragPathHint, useDragPath } from "./drag-path";
import { DragTrail, type Trail } from "./drag-trail";
import { Fingers, type FingerMove } from "./fingers";
import { reduceGesture, HOLD_MS, IDLE, type Hand, type Input, type State } from "./gestures";
import { PointMenu } from "./point-menu";
import { isArrow, jumpTarget, moveCrosshair, type CrosshairState } from "./crosshair-keys";
import { elementsOf } from "./elements";
import { buttonFromNumber } from "./takeover";
import { marksOf } from "./viewed-step";
import styles from "./viewport.module.css";

interface Props {
  readonly picture: Size;
  readonly displaySize: Size;
  readonly source: CanvasImageSource | null;
  /** Two fingers zoom the view; `corner` is where that of the picture is on the page. */
  readonly onZoom: (move: Extract<FingerMove, { kind: "zoom" }>, corner: Point) => void;
}

export function PointerLayer({ picture, displaySize, source, onZoom }: Props) {
  const { t } = useI18n();
  const workspace = useWorkspace();
  const state = useRef<State>(IDLE);
  const holdTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [pixel, setPixel] = useState<Point | null>(null);
  const [crosshair, setCrosshair] = useState<CrosshairState | null>(null);
  /** The step at which the pointer or the crosshair was moved last: the magnifier leaves with each act. */
  const [pointedAt, setPointedAt] = useState(0);
  const [menu, setMenu] = useState<Point | null>(null);
  const [dragFrom, setDragFrom] = useState<Point | null>(null);
  const path = useDragPath();
  const [trail, setTrail] = useState<Trail | null>(null);
  const [refusedKeys, setRefusedKeys] = useState<string | null>(null);
  const held = useRef<readonly string[]>([]);
  const hand = useRef<Hand>("mouse");
  const [fingers] = useState(() => new Fingers());
  const touch = workspace.episode.task.platform === "phone";
  const step = workspace.episode.steps.length;
  const active = workspace.canAct && workspace.viewedStep === null;

  const dispatch = (input: Input) => {
    const result = reduceGesture(state.current, input, touch ? "phone" : hand.current);
    state.current = result.state;
    setTrail(result.state.name === "dragging" ? { from: result.state.from, to: result.state.to } : null);
    if (result.outcome.type === "menu") setMenu(result.outcome.pixel);
    if (result.outcome.type === "action") {
      setDragFrom(null);
      const { action, final } = result.outcome;
      workspace.composeAction(held.current.length > 0 ? withHeldKeys(action, held.current) : action, final);
    }
  };

  const read = (event: PointerEvent<HTMLDivElement> | WheelEvent) => {
    const box = boxOf(event.currentTarget as HTMLElement);
    const place = { x: event.clientX, y: event.clientY };
    return { inside: pixelAt(place, box, picture), pointer: { place, pixel: nearestPixel(place, box, picture), at: event.timeStamp } };
  };

  /** Says so where a key is held that this machine cannot hold meanwhile: the act without it would be another one. */
  const refuse = (modifiers: readonly string[]): boolean => {
    const refused = modifiers.length > 0 && (touch || !workspace.episode.capabilities.includes("mouse_click"));
    setRefusedKeys(refused ? formatKeys(modifiers) : null);
    return refused;
  };

  /** Whether the event is of several fingers: then no act comes of it but a scroll. */
  const handleFingers = (event: PointerEvent<HTMLDivElement>): boolean => {
    if (event.pointerType !== "touch") return false;
    const place = { x: event.clientX, y: event.clientY };
    if (event.type === "pointerdown") {
      fingers.down(event.pointerId, place);
      if (fingers.isSeveral) cancel();
    }
    const several = fingers.isSeveral;
    const moved = event.type === "pointermove" ? fingers.move(event.pointerId, place) : null;
    if (event.type === "pointerup" || event.type === "pointercancel") fingers.up(event.pointerId);
    if (moved?.kind === "zoom") onZoom(moved, event.currentTarget.getBoundingClientRect());
    else if (moved?.kind === "scroll" && active) {
      held.current = [];
      dispatch({ type: "wheel", dx: -moved.dx, dy: -moved.dy, ...read(event).pointer });
    }
    return several;
  };

  const down = (event: PointerEvent<HTMLDivElement>) => {
    const button = buttonFromNumber(event.button);
    hand.current = event.pointerType === "touch" ? "finger" : "mouse";
    if (handleFingers(event) || !active || button === null) return;
    const { pointer } = read(event);
    if (button === "left" && workspace.commandLineRef.current?.takePoint(pointer.pixel) === true) {
      event.preventDefault();
      return;
    }
    workspace.viewportRef.current?.focus({ preventScroll: true });
    if (button === "left" && path.points !== null) {
      path.add(pointer.pixel);
      return;
    }
    held.current = modifiersOf(event);
    if (refuse(held.current)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    clearTimeout(holdTimer.current);
    holdTimer.current = setTimeout(() => dispatch({ type: "held" }), HOLD_MS);
    dispatch({ type: "down", button, ...pointer });
  };

  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (handleFingers(event)) return;
    const { inside, pointer } = read(event);
    setPixel(inside);
    setPointedAt(step);
    setCrosshair(null);
    if (active) dispatch({ type: "move", ...pointer });
  };

  const up = (event: PointerEvent<HTMLDivElement>) => {
    clearTimeout(holdTimer.current);
    if (handleFingers(event) || !active) return;
    const { inside, pointer } = read(event);
    const leftPicture = state.current.name === "dragging" && inside === null;
    dispatch(leftPicture ? { type: "cancel" } : { type: "up", ...pointer });
  };

  const cancel = () => {
    clearTimeout(holdTimer.current);
    dispatch({ type: "cancel" });
  };

  const wheel = useEventListener("wheel", (event) => {
    if (!active) return;
    event.preventDefault();
    // Shift has turned the wheel to the side already where the browser says so.
    held.current = modifiersOf(event).filter((name) => name !== "shift" || event.deltaX === 0);
    if (refuse(held.current)) return;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 100 / 3 : 1;
    dispatch({ type: "wheel", dx: event.deltaX * unit, dy: event.deltaY * unit, ...read(event).pointer });
  }, { passive: false });
  const ref = useMergedRef(workspace.viewportRef, wheel);

  /** Whether a drag was under way. */
  const cancelDrag = (): boolean => {
    path.begin(null);
    const dragging = state.current.name === "dragging";
    if (dragging) cancel();
    return dragging;
  };

  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const modified = event.metaKey || event.altKey || event.nativeEvent.isComposing;
    if (event.key === "Escape" && cancelDrag()) {
      event.preventDefault();
      event.stopPropagation();
    } else if (active && (event.ctrlKey ? jump(event.key) : !modified && (handleArrowKey(event) || handleCrosshairKey(event)))) event.preventDefault();
  };

  const crosshairFrom: CrosshairState = crosshair ?? { pixel: pixel ?? middleOf(picture), repeats: 0 };
  const showCrosshair = (at: CrosshairState) => {
    setCrosshair(at);
    setPointedAt(step);
  };

  const handleArrowKey = (event: KeyboardEvent): boolean => {
    const next = moveCrosshair(crosshairFrom, event.key, event.repeat, event.shiftKey, picture);
    if (next !== null) showCrosshair(next);
    return next !== null;
  };

  /** Ctrl and an arrow: to the nearest marker or element of the picture there. */
  const jump = (key: string): boolean => {
    if (!isArrow(key)) return false;
    const marked = marksOf(workspace).flatMap(({ action }) => markerOf(action) ?? []);
    const anchors = marked.map((marker) => anchorOf(marker, crosshairFrom.pixel));
    const target = jumpTarget(crosshairFrom.pixel, key, [...anchors, ...elementsOf(source, picture)]);
    if (target !== null) showCrosshair({ pixel: target, repeats: 0 });
    return target !== null;
  };

  const handleCrosshairKey = (event: KeyboardEvent): boolean => {
    if (crosshair === null) return false;
    if (event.key === " " && path.points !== null) path.add(crosshair.pixel);
    else if (event.key === "Enter" && workspace.draftedAction === null) point(crosshair.pixel, event.shiftKey);
    else if (event.key === "m" || event.key === "ContextMenu") setMenu(crosshair.pixel);
    else return false;
    return true;
  };

  /** Enter on the crosshair: ends a drag that was begun, else a click, with Shift a right click or a long press. */
  const point = (at: Point, right: boolean) => {
    if (dragFrom !== null) {
      workspace.composeAction(touch ? { kind: "swipe", start: dragFrom, end: at } : { kind: "drag", start: dragFrom, end: at, button: "left" }, true);
      setDragFrom(null);
    } else if (workspace.commandLineRef.current?.takePoint(at) !== true) {
      workspace.composeAction(tapOf(at, right, touch), true);
    }
  };

  const crosshairPixel = crosshairAt(pointedAt === step, crosshair, pixel);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the picture of a machine is worked on with pointer and keys */}
      <div
        ref={ref}
        className={styles.pointer}
        role="application"
        aria-label={t("viewport.point")}
        aria-describedby="stage-point-help"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- so that the crosshair can be moved by keys
        tabIndex={0}
        data-active={active || undefined}
        data-autofocus
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={(event) => {
          handleFingers(event);
          cancel();
        }}
        // A middle click pastes under X11, into whatever field the step asks for next.
        onMouseUp={preventMiddle}
        onAuxClick={preventMiddle}
        onPointerLeave={() => setPixel(null)}
        onContextMenu={(event) => event.preventDefault()}
        onKeyDown={key}
      />
      <span id="stage-point-help" hidden>
        {t(touch ? "phone.point.help" : "viewport.point.help")}
      </span>
      {trail !== null && <DragTrail trail={trail} picture={picture} displaySize={displaySize} />}
      {active && crosshairPixel !== null && <Crosshair pixel={crosshairPixel} picture={picture} displaySize={displaySize} source={source} />}
      <PointMenu
        pixel={menu}
        picture={picture}
        onClose={() => setMenu(null)}
        onDragFrom={(from) => {
          setDragFrom(from);
          path.begin(null);
          showCrosshair({ pixel: from, repeats: 0 });
        }}
        onPathFrom={(from) => {
          setDragFrom(null);
          path.begin(from);
          showCrosshair({ pixel: from, repeats: 0 });
        }}
      />
      {dragFrom !== null && <span className={styles.hint}>{t("viewport.drag_to")}</span>}
      {refusedKeys !== null && <span className={styles.hint} role="alert">{t("viewport.keys_refused", { keys: refusedKeys })}</span>}
      <DragPathHint points={path.points} />
    </>
  );
}

/** Where the crosshair is shown; null where it is not. */
function crosshairAt(pointing: boolean, crosshair: CrosshairState | null, pixel: Point | null): Point | null {
  return pointing ? (crosshair?.pixel ?? pixel) : null;
}

function preventMiddle(event: MouseEvent): void {
  if (event.button === 1) event.preventDefault();
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
