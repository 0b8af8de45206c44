/* Runs in pages of a long episode before their own scripts: notes when a step's picture and the desk's steps are shown. */
(() => {
  const frame = () => document.querySelector("main section img");
  /** The number of the step that is shown; null while its picture is on the way. */
  const shown = () => {
    const picture = frame();
    if (!picture?.complete || picture.naturalWidth === 0) return null;
    return Number(/\d+/.exec(picture.alt)?.[0] ?? NaN);
  };
  let began = null, before = null, desk = null;
  window.__scrubs = [];
  window.__shown = shown;
  for (const kind of ["keydown", "pointerdown"]) {
    addEventListener(kind, () => {
      began = performance.now();
      before = shown();
    }, true);
  }
  const look = () => {
    const step = shown();
    if (began !== null && step !== null && step !== before) {
      window.__scrubs.push(performance.now() - began);
      began = null;
    }
    if (desk === null && document.querySelector("article") && document.querySelector("footer ol > li")) desk = performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  /** When the desk showed candidates and steps, in milliseconds since the navigation began. */
  window.__deskShown = () => desk;
})();
