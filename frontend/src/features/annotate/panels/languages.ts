/** Which language a file is written in, by its name; loaded when such a file is opened. */
import type { Extension } from "@codemirror/state";

const LOADERS: readonly (readonly [RegExp, () => Promise<Extension>])[] = [
  [/\.pyi?$/i, () => import("@codemirror/lang-python").then(({ python }) => python())],
  [/\.(?:json|ipynb)$/i, () => import("@codemirror/lang-json").then(({ json }) => json())],
  [/\.[cm]?jsx?$/i, () => import("@codemirror/lang-javascript").then(({ javascript }) => javascript({ jsx: true }))],
  [/\.[cm]?tsx?$/i, () => import("@codemirror/lang-javascript").then(({ javascript }) => javascript({ jsx: true, typescript: true }))],
];

/** The colours for a file; none where the language is not known. */
export async function languageOf(name: string): Promise<Extension> {
  return (await LOADERS.find(([pattern]) => pattern.test(name))?.[1]()) ?? [];
}
