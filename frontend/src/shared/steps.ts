/** Which steps count: those nobody took back. */
export function withoutUndone<S extends { readonly undone: boolean }>(steps: readonly S[]): S[] {
  return steps.filter(({ undone }) => !undone);
}
