/** An action in words a person reads; pure. */
import type { Action } from "@/generated/vocabulary";
import type { I18n } from "@/shared/i18n/i18n";

type ActionOfKind<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;
type Descriptions = { [Kind in Action["kind"]]: (action: ActionOfKind<Kind>, i18n: I18n) => string };

const MAX_LENGTH = 80;

const at = ({ x, y }: { x: number; y: number }) => `(${x}, ${y})`;

/** Text on one line, cut where a reader has seen enough. */
export function oneLine(text: string, maxLength = MAX_LENGTH): string {
  const line = text.replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

/** "ctrl" + "c" → "Ctrl+C". */
export function formatKeys(keys: readonly string[]): string {
  return keys.map((key) => key.charAt(0).toUpperCase() + key.slice(1)).join("+");
}

const DESCRIPTIONS: Descriptions = {
  click: (a, { t }) => t("action.click", { at: at(a) }),
  double_click: (a, { t }) => t("action.double_click", { at: at(a) }),
  triple_click: (a, { t }) => t("action.triple_click", { at: at(a) }),
  right_click: (a, { t }) => t("action.right_click", { at: at(a) }),
  middle_click: (a, { t }) => t("action.middle_click", { at: at(a) }),
  move_to: (a, { t }) => t("action.move_to", { at: at(a) }),
  mouse_down: ({ point, button }, { t }) => {
    const name = t(`button.${button}`);
    return point ? t("action.mouse_down", { at: at(point), button: name }) : t("action.mouse_down_here", { button: name });
  },
  mouse_up: ({ point, button }, { t }) => {
    const name = t(`button.${button}`);
    return point ? t("action.mouse_up", { at: at(point), button: name }) : t("action.mouse_up_here", { button: name });
  },
  drag: ({ start, end, button }, { t }) => {
    const way = { from: at(start), to: at(end) };
    return button === "left" ? t("action.drag", way) : t("action.drag_with", { ...way, button: t(`button.${button}`) });
  },
  mouse_click: ({ point, button, clicks, keys }, { t }) => {
    const words = { button: t(`button.${button}`), count: clicks, keys: formatKeys(keys) };
    const where = point ? t("action.mouse_click", { ...words, at: at(point) }) : t("action.mouse_click_here", words);
    return keys.length > 0 ? t("action.under_keys", { act: where, keys: words.keys }) : where;
  },
  drag_path: ({ points, button, keys }, { t }) => {
    const words = { button: t(`button.${button}`), path: points.map(at).join(" → ") };
    const along = points.length > 1 ? t("action.drag_path", words) : t("action.drag_path_here", words);
    return keys.length > 0 ? t("action.under_keys", { act: along, keys: formatKeys(keys) }) : along;
  },
  scroll_by: ({ point, dx, dy, unit, keys }, { t }) => {
    const words = { dx, dy, unit: t(`unit.${unit}`) };
    const scrolled = point ? t("action.scroll_by", { ...words, at: at(point) }) : t("action.scroll_by_here", words);
    return keys.length > 0 ? t("action.under_keys", { act: scrolled, keys: formatKeys(keys) }) : scrolled;
  },
  scroll: ({ point, direction, amount }, { t }) => {
    const scroll = { direction: t(`direction.${direction}`), count: amount };
    return point ? t("action.scroll", { ...scroll, at: at(point) }) : t("action.scroll_here", scroll);
  },
  type_text: (a, { t }) => t("action.type_text", { text: oneLine(a.text) }),
  press_keys: (a, { t }) => t("action.press_keys", { keys: formatKeys(a.keys) }),
  press: (a, { t }) => t("action.press", { keys: formatKeys([a.key]) }),
  release: (a, { t }) => t("action.release", { keys: formatKeys([a.key]) }),
  wait: (a, { t }) => t("action.wait", { seconds: a.seconds }),
  navigate: (a, { t }) => t("action.navigate", { url: oneLine(a.url) }),
  navigate_back: (_, { t }) => t("action.navigate_back"),
  switch_page: (a, { t }) => t("action.switch_page", { page: a.page }),
  close_page: (a, { t }) => (a.page ? t("action.close_page", { page: a.page }) : t("action.close_page_here")),
  choose_files: (a, { t }) =>
    a.files.length > 0 ? t("action.choose_files", { files: a.files.map(oneLine).join(", ") }) : t("action.choose_none"),
  long_press: (a, { t }) => t("action.long_press", { at: at(a), seconds: a.seconds }),
  swipe: ({ start, end }, { t }) => t("action.swipe", { from: at(start), to: at(end) }),
  open_app: (a, { t }) => t("action.open_app", { name: a.name }),
  press_home: (_, { t }) => t("action.press_home"),
  press_back: (_, { t }) => t("action.press_back"),
  set_clipboard: (a, { t }) => t("action.set_clipboard", { text: oneLine(a.text) }),
  get_clipboard: (_, { t }) => t("action.get_clipboard"),
  run_command: (a, { t }) => t("action.run_command", { text: oneLine(a.command) }),
  type_terminal: (a, { t }) =>
    a.text ? t("action.type_terminal", { text: oneLine(a.text) }) : t("action.type_terminal_look"),
  list_files: (a, { t }) => t("action.list_files", { path: a.path }),
  read_file: (a, { t }) => t("action.read_file", { path: a.path }),
  write_file: (a, { t }) => t("action.write_file", { path: a.path }),
  edit_file: (a, { t }) => t("action.edit_file", { path: a.path }),
  upload_file: (a, { t }) => t("action.upload_file", { path: a.path }),
  download_file: (a, { t }) => t("action.download_file", { path: a.path }),
  run_code: (a, { t }) => t("action.run_code", { text: oneLine(a.code) }),
  call_tool: (a, { t }) => t("action.call_tool", { name: a.name }),
  screenshot: (_, { t }) => t("action.screenshot"),
  zoom: ({ start, end }, { t }) => t("action.zoom", { from: at(start), to: at(end) }),
  finish: (a, { t }) => (a.answer ? t("action.finish_with", { text: oneLine(a.answer) }) : t("action.finish")),
  call_user: (a, { t }) =>
    a.message ? t("action.call_user_with", { text: oneLine(a.message) }) : t("action.call_user"),
  infeasible: (a, { t }) =>
    a.reason ? t("action.infeasible_with", { text: oneLine(a.reason) }) : t("action.infeasible"),
  no_action: (a, { t }) =>
    a.said ? t("action.no_action_with", { text: oneLine(a.said) }) : t("action.no_action"),
  gesture: ({ inputs }, { t, duration }) =>
    t("action.gesture", { count: inputs.length, duration: duration(inputs.at(-1)?.at_ms ?? 0) }),
};

/** The action as a sentence in the reader's language. */
export function describeAction(action: Action, i18n: I18n): string {
  const words = DESCRIPTIONS[action.kind] as (action: Action, i18n: I18n) => string;
  return words(action, i18n);
}

/** Where an action touches the screen, in order: one point for a click, two for a drag. */
export function pointsOf(action: Action): { x: number; y: number }[] {
  if ("start" in action) return [action.start, action.end];
  if ("points" in action) return action.points;
  if ("x" in action) return [{ x: action.x, y: action.y }];
  return "point" in action && action.point ? [action.point] : [];
}
