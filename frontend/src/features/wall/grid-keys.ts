/** Where an arrow key leads in a grid that wraps. */

/** The place a key leads to from `at`, in `count` tiles of `columns` a row; null where it leads nowhere. */
export function placeAfter(key: string, at: number, count: number, columns: number): number | null {
  const place = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + columns,
    ArrowUp: at - columns,
    Home: 0,
    End: count - 1,
  }[key];
  return place === undefined || place < 0 || place >= count ? null : place;
}

/** How many elements stand in the first row. */
export function columnsOf(elements: readonly { readonly offsetTop: number }[]): number {
  const first = elements[0]?.offsetTop;
  const below = elements.findIndex(({ offsetTop }) => offsetTop !== first);
  return Math.max(1, below < 0 ? elements.length : below);
}
