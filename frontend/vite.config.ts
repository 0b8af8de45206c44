/** Build, development server and test settings of the front-end. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const web = "http://127.0.0.1:8000";
const VENDOR =
  /node_modules\/(react|react-dom|react-router|scheduler|@mantine\/(core|hooks|notifications|spotlight)|@tanstack|@floating-ui|lucide-react|clsx)\//;

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      "@preview": new URL("./preview", import.meta.url).pathname,
      "@": new URL("./src", import.meta.url).pathname,
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": web,
      "/ws": { target: web, ws: true },
    },
  },
  build: {
    target: "es2023",
    // Browsers that know light-dark(): for older ones it would be rewritten to variables nobody sets.
    cssTarget: ["chrome123", "edge123", "firefox120", "safari17.5"],
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most pages share is few files: each one costs a request, if only to the browser's own cache.
          groups: [
            { name: "vendor", test: VENDOR, minShareCount: 2 },
            { name: "shared", test: /\/src\/shared\//, minShareCount: 3 },
          ],
        },
      },
    },
    // The texts of the licences of all that is bundled go where the bundle goes.
    license: { fileName: "licenses.md" },
  },
  test: {
    restoreMocks: true,
    unstubGlobals: true,
    testTimeout: 30_000,
    // Files share a worker and its modules: a third of their time was the start of a worker and its imports.
    isolate: false,
    // A document takes a second to make for each file: tests of plain functions (*.test.ts) go without, unless their
    // first line asks for one.
    projects: [
      {
        extends: true,
        test: { name: "functions", environment: "node", include: ["src/**/*.test.ts"] },
      },
      {
        extends: true,
        test: {
          name: "components",
          environment: "happy-dom", // half of jsdom's processor time; tests of what it lacks ask for jsdom
          include: ["src/**/*.test.tsx"],
          setupFiles: ["src/test-setup.ts"],
        },
      },
    ],
  },
});
