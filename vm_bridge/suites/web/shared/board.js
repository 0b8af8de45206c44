// What the games share: a canvas that fills the stage, a grid laid in its middle, the status line and the end.
"use strict";

const game = (() => {
  const stage = document.getElementById("stage");
  let wanted = false;

  // A canvas over the whole stage; `draw(context, width, height)` runs in the next frame after `again()`.
  function canvas(draw) {
    const element = document.createElement("canvas");
    element.width = stage.clientWidth;
    element.height = stage.clientHeight;
    stage.replaceChildren(element);
    const context = element.getContext("2d");
    const again = () => {
      if (wanted) return;
      wanted = true;
      requestAnimationFrame(() => {
        wanted = false;
        context.clearRect(0, 0, element.width, element.height);
        context.lineWidth = 1;
        draw(context, element.width, element.height);
      });
    };
    wanted = false;
    return { element, context, again, top: Math.round(element.getBoundingClientRect().top) };
  }

  // A grid of square cells in the middle of an area; points are those of the window.
  function grid(columns, rows, { width = stage.clientWidth, height = stage.clientHeight, x = 0, y = 0, most = 90 } = {}) {
    const cell = Math.max(4, Math.floor(Math.min((width - 8) / columns, (height - 8) / rows, most)));
    const left = x + Math.floor((width - cell * columns) / 2), top = y + Math.floor((height - cell * rows) / 2);
    const header = Math.round(stage.getBoundingClientRect().top);
    return {
      columns, rows, cell, left, top,
      // What a state tells of it: where the cells are in the window.
      view: () => ({ left, top: top + header, cell }),
      at(event) {
        const column = Math.floor((event.clientX - left) / cell), row = Math.floor((event.clientY - header - top) / cell);
        return column >= 0 && row >= 0 && column < columns && row < rows ? { column, row } : null;
      },
      box: (column, row, gap = 0) => [left + column * cell + gap, top + row * cell + gap, cell - 2 * gap, cell - 2 * gap],
      centre: (column, row) => [left + (column + 0.5) * cell, top + (row + 0.5) * cell],
    };
  }

  function round(context, x, y, width, height, radius, fill, stroke) {
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.stroke();
    }
  }

  function disc(context, x, y, radius, fill) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
  }

  function write(context, text, x, y, size, fill, weight = 600) {
    context.fillStyle = fill;
    context.font = `${weight} ${size}px "DejaVu Sans", "Noto Sans CJK SC", sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, x, y + size * 0.04);
  }

  // "#d1495b" as three numbers between 0 and 1.
  const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);

  // White or nearly black, whichever is read better on one of the theme's colours.
  function upon(fill) {
    if (fill === pilothouse.theme.accent) return pilothouse.theme.onAccent;
    const [red, green, blue] = rgb(fill).map((part) => part ** 2.2);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.28 ? "#101418" : "#fff";
  }

  function title(said) {
    document.querySelector("header h1").textContent = document.title = pilothouse.say(said);
    delete stage.dataset.end;
  }

  function status(text) {
    document.getElementById("status").textContent = text;
  }

  function over(won) {
    stage.dataset.end = pilothouse.say(won ? { en: "Well done", zh: "完成" } : { en: "Game over", zh: "游戏结束" });
  }

  // A page in words: its title, its status line, what `parts` say, and how it ended.
  function words(...parts) {
    const shown = (css) => document.querySelector(css).textContent;
    return [shown("header h1"), shown("#status"), ...parts, stage.dataset.end].filter(Boolean).join("\n");
  }

  // Rows of cells as a table with the numbers of columns and rows, from 1.
  function table(rows) {
    const width = Math.max(...rows.flat().map((cell) => String(cell).length), String(rows[0].length).length);
    const line = (name, cells) => [String(name).padStart(2), ...cells.map((cell) => String(cell).padStart(width))].join(" ");
    return [line("", rows[0].map((_, i) => i + 1)), ...rows.map((row, i) => line(i + 1, row))].join("\n");
  }

  // A flat list of cells in rows of so many columns.
  const rowsOf = (cells, columns) =>
    Array.from({ length: cells.length / columns }, (_, row) => cells.slice(row * columns, (row + 1) * columns));

  const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

  // Calls with the direction of an arrow key; a game listens once, whatever it is set up with later.
  function arrows(act) {
    addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      if (!step) return;
      event.preventDefault();
      if (!event.repeat) act(step[0], step[1], event.key);
    });
  }

  return { stage, canvas, grid, round, disc, write, rgb, upon, title, status, over, arrows, words, table, rowsOf };
})();
