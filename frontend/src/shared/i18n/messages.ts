/** What a message is, and which parameters it takes; pure types and one pure function. */

import { numberFormat, pluralRules } from "./intl";

/** A text with `{name}` parameters, or its plural forms chosen by the parameter `count`. */
export type Message = string | { readonly one?: string; readonly other: string };

type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Texts<M extends Message> = M extends string ? M : M extends { other: infer Text extends string } ? Text | "{count}" : never;

/** The names a message's parameters have. */
export type ParametersOf<M extends Message> = Names<Texts<M>>;

export type Values = Readonly<Record<string, string | number>>;

/** Fill in a message for a language; numbers are written the way that language writes them. */
export function format(message: Message, values: Values, language: string): string {
  return textOf(message, values, language).replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    return typeof value === "number" ? numberFormat(language).format(value) : value;
  });
}

function textOf(message: Message, values: Values, language: string): string {
  if (typeof message === "string") return message;
  const one = pluralRules(language).select(Number(values.count)) === "one";
  return one ? (message.one ?? message.other) : message.other;
}
