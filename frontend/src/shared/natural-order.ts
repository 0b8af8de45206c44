/** The order in which people look for names: numbers by their value, and capitals as small letters. */
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** The same, sorted by their names: `pool 2` comes before `Pool 10`. */
export const byName = <Named extends { readonly name: string }>(items: readonly Named[]): Named[] =>
  items.toSorted((one, other) => collator.compare(one.name, other.name));
