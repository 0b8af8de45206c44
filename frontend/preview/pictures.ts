/** Drawings that stand in for screenshots: a small desktop whose windows depend on the name asked for. */

/** A fake sha256 that names a drawing: its first characters say which windows are open. */
export const pictureName = (windows: string) => windows.padEnd(64, "0");

const WINDOWS: Record<string, string> = {
  a: window("Files", 90, 70, 520, 380, icons(["report.txt", "notes.md", "photo.png", "budget.ods"])),
  b: window("Terminal", 460, 180, 640, 380, terminal()),
  c: window("report.txt - Editor", 300, 120, 680, 440, text()),
  d: menu(396, 236, ["Open", "Copy", "Rename…", "Move to bin", "Properties"]),
  e: window("Rename", 380, 260, 420, 150, field("final.txt")),
};

/** The picture a name stands for, as SVG. */
export function picture(name: string): string {
  const open = Array.from(name.slice(0, 8), (letter) => WINDOWS[letter] ?? "").join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1280 720" width="1280" height="720" font-family="Noto Sans, sans-serif" font-size="14">
<rect width="1280" height="720" fill="#3d5a6c"/><rect y="688" width="1280" height="32" fill="#22303a"/>
<text x="16" y="709" fill="#dfe8ee">Applications</text><text x="1220" y="709" fill="#dfe8ee">09:41</text>${open}</svg>`;
}

function window(title: string, x: number, y: number, width: number, height: number, inside: string): string {
  return `<g transform="translate(${x} ${y})"><rect width="${width}" height="${height}" rx="6" fill="#f7f7f7" stroke="#1b262d"/>
<path d="M0 6a6 6 0 0 1 6-6H${width - 6}a6 6 0 0 1 6 6V28H0Z" fill="#dadfe3"/><text x="12" y="19" fill="#222">${title}</text>
<text x="${width - 22}" y="19" fill="#444">×</text><g transform="translate(0 28)">${inside}</g></g>`;
}

function icons(names: string[]): string {
  return names
    .map((name, index) => `<g transform="translate(${40 + index * 115} 40)"><rect x="20" width="44" height="54" rx="3" fill="#fff" stroke="#7a8894"/><text x="42" y="76" text-anchor="middle" fill="#222">${name}</text></g>`)
    .join("");
}

function terminal(): string {
  const lines = ["$ ls", "budget.ods  notes.md  photo.png  report.txt", "$ mv report.txt final.txt", "$ _"];
  return `<rect width="640" height="352" fill="#14181c"/><g font-family="monospace" fill="#d3e0d3">${lines.map((line, index) => `<text x="12" y="${26 + index * 22}">${line}</text>`).join("")}</g>`;
}

function text(): string {
  const lines = ["Quarterly report", "", "Revenue grew by 12 % against the year before.", "Costs stayed level.", "", "中文摘要：收入同比增长百分之十二。"];
  return lines.map((line, index) => `<text x="16" y="${30 + index * 24}" fill="#222">${line}</text>`).join("");
}

function menu(x: number, y: number, items: string[]): string {
  return `<g transform="translate(${x} ${y})"><rect width="160" height="${items.length * 28 + 8}" fill="#fff" stroke="#7a8894"/>${items
    .map((item, index) => `<text x="14" y="${24 + index * 28}" fill="#222">${item}</text>`)
    .join("")}</g>`;
}

function field(value: string): string {
  return `<text x="20" y="34" fill="#222">New name:</text><rect x="20" y="46" width="380" height="30" fill="#fff" stroke="#3b82c4"/><text x="28" y="66" fill="#222">${value}</text>`;
}
