/** Copies text within a click, also where a browser refuses its clipboard or the page is not served securely. */
export async function copyText(text: string): Promise<void> {
  // Outside of secure pages there is none, whatever its type says.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard === undefined) throw new Error("no clipboard here");
    await clipboard.writeText(text);
  } catch {
    copySelection(text);
  }
}

/** A `copy` event of the page itself takes the text as it is. */
function copySelection(text: string): void {
  const give = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", give, { capture: true, once: true });
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without the clipboard's own interface
  document.execCommand("copy");
  document.removeEventListener("copy", give, { capture: true });
}
