/** What pages ask for before they are drawn. */
import type { QueryClient } from "@tanstack/react-query";

import type { UserOut } from "@/generated/api";

/** Where a page is opened, and by whom. */
export type PageContext = { readonly client: QueryClient; readonly search: URLSearchParams; readonly user: UserOut };

/**
 * Asks for what a page shows first: the server answers while the browser draws the page's frame. A page module exports it
 * as `prefetch`. The page itself uses the same queries, and shows their failures.
 */
export type Prefetch = (page: PageContext) => readonly Promise<unknown>[];
