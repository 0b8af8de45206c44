/** Everything that can be done at one point, for the actions a gesture cannot say. */
import { Menu } from "@mantine/core";

import type { Action, Point } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import type { Size } from "@/shared/markers/mapping";
import { useWorkspace } from "@/features/annotate/use-workspace";

interface Props {
  /** Where it was asked for; null while it is closed. */
  readonly pixel: Point | null;
  readonly picture: Size;
  readonly onClose: () => void;
  readonly onDragFrom: (pixel: Point) => void;
  readonly onPathFrom: (pixel: Point) => void;
}

const AT = ["click", "double_click", "triple_click", "right_click", "middle_click", "move_to"] as const;

/** How far the menu scrolls (pixels); the command line has any other amount, on both axes. */
const PIXELS = 300;

/** The actions at a point, in the order they are wanted. */
function actionsAt(point: Point): Action[] {
  return [
    ...AT.map((kind): Action => ({ kind, ...point })),
    { kind: "long_press", ...point, seconds: 1 },
    { kind: "scroll", point, direction: "down", amount: 5 },
    { kind: "scroll", point, direction: "up", amount: 5 },
    { kind: "scroll_by", point, dx: 0, dy: PIXELS, unit: "pixels", keys: [] },
    { kind: "scroll_by", point, dx: 0, dy: -PIXELS, unit: "pixels", keys: [] },
    { kind: "mouse_click", point, button: "back", clicks: 1, keys: [] },
    { kind: "mouse_click", point, button: "forward", clicks: 1, keys: [] },
    { kind: "mouse_down", point, button: "left" },
    { kind: "mouse_up", point, button: "left" },
  ];
}

export function PointMenu({ pixel, picture, onClose, onDragFrom, onPathFrom }: Props) {
  const i18n = useI18n();
  const { episode, composeAction, viewportRef } = useWorkspace();
  const at = pixel ?? { x: 0, y: 0 };
  const can = (kind: string) => episode.capabilities.includes(kind);
  return (
    <Menu
      opened={pixel !== null}
      onClose={() => {
        onClose();
        viewportRef.current?.focus({ preventScroll: true });
      }}
      position="bottom-start"
      shadow="md"
      returnFocus={false}
    >
      <Menu.Target>
        <span
          aria-hidden // a place, not a control, whatever the menu says about it
          style={{
            position: "absolute",
            left: `${(100 * (at.x + 0.5)) / Math.max(picture.width, 1)}%`,
            top: `${(100 * (at.y + 0.5)) / Math.max(picture.height, 1)}%`,
          }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={i18n.t("viewport.point")}>
        {actionsAt(at)
          .filter(({ kind }) => can(kind))
          .map((action) => (
            <Menu.Item key={JSON.stringify(action)} onClick={() => composeAction(action, true)}>
              {describeAction(action, i18n)}
            </Menu.Item>
          ))}
        {(can("drag") || can("swipe")) && (
          <Menu.Item onClick={() => onDragFrom(at)}>{i18n.t("viewport.drag_from")}</Menu.Item>
        )}
        {can("drag_path") && <Menu.Item onClick={() => onPathFrom(at)}>{i18n.t("viewport.path_from")}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
