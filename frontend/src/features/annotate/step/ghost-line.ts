/** A continuation behind the caret of the command line, and the keys that take it. */
import type { Extension } from "@codemirror/state";
import { Decoration, EditorView, keymap, ViewPlugin, WidgetType, type DecorationSet, type ViewUpdate } from "@codemirror/view";

import { firstWord } from "./use-continuation";

class Ghost extends WidgetType {
  constructor(private readonly text: string) {
    super();
  }

  override eq(other: Ghost): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = "cm-ghost";
    element.ariaHidden = "true";
    element.textContent = this.text;
    return element;
  }
}

/** Shows `rest()` after the caret; dispatch an empty transaction when it changes. While a list is open, Tab takes its choice. */
export function ghostLine(rest: () => string, hide: () => void): Extension {
  const offered = (view: EditorView) => (view.state.selection.main.empty ? rest() : "");
  const decorate = (view: EditorView): DecorationSet => {
    const text = offered(view);
    return text === "" ? Decoration.none : Decoration.set([Decoration.widget({ widget: new Ghost(text), side: 1 }).range(view.state.selection.main.head)]);
  };
  const take = (part: (text: string) => string) => (view: EditorView) => {
    const text = part(offered(view));
    if (text === "") return false;
    const { head } = view.state.selection.main;
    view.dispatch({ changes: { from: head, insert: text }, selection: { anchor: head + text.length }, userEvent: "input.complete" });
    return true;
  };
  const plugin = ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }
      update({ view }: ViewUpdate): void {
        this.decorations = decorate(view);
      }
    },
    { decorations: (ghost) => ghost.decorations },
  );
  return [
    plugin,
    keymap.of([
      { key: "Tab", run: take((text) => text) },
      { key: "ArrowRight", run: take((text) => text) },
      { key: "Ctrl-ArrowRight", run: take(firstWord) },
      { key: "Alt-ArrowRight", run: take(firstWord) },
      {
        key: "Escape",
        run: (view) => {
          if (offered(view) === "") return false;
          hide();
          return true;
        },
      },
    ]),
  ];
}
