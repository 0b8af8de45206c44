/**
 * The real page in front of a made-up server: `npm run preview:fake`, then open `/queue?preview=default`.
 * `preview` names one of the worlds in worlds.ts and stays until another one is named.
 */
import { defineConfig, mergeConfig } from "vite";

import base from "../vite.config";
import { madeUpServer } from "./server";

export default mergeConfig(base, defineConfig({ root: ".", server: { proxy: {} }, plugins: [madeUpServer()] }));
