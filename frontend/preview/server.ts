/** Answers the API's addresses from a made-up world, named by a cookie. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Plugin } from "vite";

import { picture } from "./pictures";
import { answer, isWorld } from "./worlds";

export function madeUpServer(): Plugin {
  return {
    name: "made-up-server",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const url = new URL(request.url ?? "/", "http://preview");
        const named = url.searchParams.get("preview");
        if (named !== null) response.setHeader("Set-Cookie", `preview=${named}; Path=/`);
        if (!url.pathname.startsWith("/api/")) { next(); return; }
        serve(request, response, url).catch(next);
      });
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, url: URL) {
  const blob = /^\/api\/episodes\/[^/]+\/blobs\/(\w+)$/.exec(url.pathname);
  if (blob) {
    response.setHeader("Content-Type", "image/svg+xml");
    return response.end(picture(blob[1] ?? ""));
  }
  const world = /(?:^|; )preview=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "default";
  const sent = await text(request);
  const { status, body } = answer(isWorld(world) ? world : "default", request.method ?? "GET", url, sent && JSON.parse(sent));
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json");
  return response.end(JSON.stringify(body));
}
