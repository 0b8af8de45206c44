(() => {
  // Notes what the scripts of a page reach for; the page goes on as if nothing were.
  const used = {};
  Object.defineProperty(window, "__KEY__", { value: () => Object.keys(used) });
  const watch = (holder, name, code) => {
    const own = holder[name];
    if (own === undefined) return;
    Object.defineProperty(holder, name, { configurable: true, get() { used[`${code} ${name}`] = true; return own; } });
  };
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker", "RTCPeerConnection", "Image"]) watch(window, name, "network");
  for (const name of ["Date", "performance", "setTimeout", "setInterval", "requestIdleCallback"]) watch(window, name, "clock");
  for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) watch(window, name, "storage");
  for (const name of ["eval", "Function", "WebAssembly"]) watch(window, name, "dynamic_code");
  watch(window, "crypto", "unseeded_random");
  watch(Math, "random", "unseeded_random");
  watch(Navigator.prototype, "sendBeacon", "network");
})();
