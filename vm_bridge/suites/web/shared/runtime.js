// What every page of a task begins with: the seeded generator, the texts, the colours, and window.pilothouse.
"use strict";

const pilothouse = (() => {
  // cyrb53's mixing makes a number of a text; mulberry32 makes numbers of that number. Both are public domain.
  function hashed(text) {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    return (Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)) >>> 0;
  }

  function random(name, task = TASK) {
    let seed = hashed(`${task.seed}/${task.level}/${name}`);
    const float = () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
    const int = (least, most) => least + Math.floor(float() * (most - least + 1));
    const pick = (list) => list[int(0, list.length - 1)];
    const shuffle = (list) => {
      const copy = list.slice();
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(0, i);
        [copy[i], copy[j]] = [copy[j], copy[i]];
      }
      return copy;
    };
    return { float, int, pick, shuffle, chance: (p) => float() < p };
  }

  function themed() {
    const draw = random("theme", { ...TASK, level: 0 });
    // The hue of the paper, and the one that looks like it in the accent's own colour space.
    const [hue, tint] = draw.pick([[205, 240], [225, 265], [160, 165], [265, 300], [30, 55], [340, 0], [185, 205]]);
    const dark = draw.chance(0.3);
    const tone = (h, s, l) => `hsl(${h} ${s}% ${l}%)`;
    const theme = dark
      ? { paper: tone(hue, 18, 12), soft: tone(hue, 16, 17), line: tone(hue, 14, 30), ink: tone(hue, 20, 92) }
      : { paper: tone(hue, 30, 97), soft: tone(hue, 30, 93), line: tone(hue, 20, 80), ink: tone(hue, 30, 16) };
    theme.dark = dark;
    // One lightness for every hue, so that words on them, and they as words, have the same contrast in every theme.
    const sign = (h, strength) => `oklch(${dark ? 0.74 : 0.5} ${strength} ${h})`;
    theme.accent = sign(tint, 0.12);
    theme.good = sign(150, 0.13);
    theme.bad = sign(27, 0.17);
    theme.onAccent = dark ? "#101418" : "#fff";
    // Colours that tell things apart; told by people who see red and green alike too, for their lightness differs.
    theme.colours = ["#d1495b", "#2e86ab", "#edae49", "#3d8b5f", "#8e5ea2", "#e07a3f", "#54b8c4", "#7a5c43"];
    return theme;
  }

  const theme = themed();
  const paint = () => {
    for (const name of ["paper", "soft", "line", "ink", "accent", "onAccent", "good", "bad"]) {
      document.documentElement.style.setProperty(`--${name}`, theme[name]);
    }
    document.documentElement.lang = TASK.language;
    document.documentElement.style.colorScheme = theme.dark ? "dark" : "light";
  };
  paint();

  const say = (said) => said[TASK.language];
  const KEY = "pilothouse:";

  function stored(key, fallback) {
    const text = localStorage.getItem(KEY + key);
    return text === null ? fallback : JSON.parse(text);
  }

  function store(key, value) {
    localStorage.setItem(KEY + key, JSON.stringify(value));
  }

  function point(element) {
    if (!element || !element.getClientRects().length) return null;
    const box = element.getBoundingClientRect();
    const x = Math.round(box.x + box.width / 2), y = Math.round(box.y + box.height / 2);
    const inside = x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    const top = inside ? document.elementFromPoint(x, y) : null;
    return { x, y, seen: !!top && (element.contains(top) || top.contains(element)) };
  }

  const points = (selectors) =>
    Object.fromEntries(Object.entries(selectors).map(([name, css]) => [name, point(document.querySelector(css))]));

  function define(page) {
    pilothouse.setup = (task) => page.setup(task);
    pilothouse.state = () => page.state();
    // Describes in words what the picture shows, and nothing else. Optional.
    if (page.describe) pilothouse.describe = () => page.describe();
    page.setup(TASK);
  }

  return { random, say, stored, store, theme, point, points, define };
})();
window.pilothouse = pilothouse;
