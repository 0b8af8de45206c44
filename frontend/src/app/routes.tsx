/** Which address shows which page. Pages load when they are first opened, the first one while the sign-in is still asked for. */
import type { QueryClient } from "@tanstack/react-query";
import { useEffect, type ComponentType } from "react";
import { createBrowserRouter, Navigate, Outlet, useParams, useSearchParams, type LoaderFunctionArgs, type RouteObject } from "react-router";

import { SessionGate } from "@/features/session/session-gate";
import { homeOf, sessionQuery, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { Loading } from "@/shared/ui/states";

import { Layout } from "./layout/layout";
import { NotFound, PageError } from "./error-pages";

function Root() {
  return (
    <SessionGate>
      <Layout>
        <Outlet />
      </Layout>
    </SessionGate>
  );
}

function Home() {
  return <Navigate to={homeOf(useUser())} replace />;
}

type PageModule = { default: ComponentType; prefetch?: Prefetch };

/**
 * A page. It loads by the router and not by `lazy`: React holds back what follows a fallback for 300 ms. What it asks for first
 * is sent before it is drawn, once it is known who is there.
 */
const page = (client: QueryClient, load: () => Promise<PageModule>): RouteObject["lazy"] => async () => {
  const { default: Component, prefetch } = await load();
  if (!prefetch) return { Component };
  const loader = async ({ request }: LoaderFunctionArgs) => {
    const session = await client.query({ ...sessionQuery, staleTime: "static" }).catch(() => null); // the gate shows the failure
    const search = new URL(request.url).searchParams;
    for (const answer of session?.user ? prefetch({ client, search, user: session.user }) : []) answer.catch(() => undefined);
    return null;
  };
  return { Component, loader, shouldRevalidate: () => false };
};

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** A page of what the address names by its id; another id is another page. */
const pageById = <Props extends object>(load: Load<Props>, propsOf: (id: string) => Props): RouteObject["lazy"] => async () => {
  const { default: Page } = await load();
  return {
    Component: function PageByIdRoute() {
      const { id = "" } = useParams();
      return <Page key={id} {...propsOf(id)} />;
    },
  };
};

const episodePage = (load: Load<{ episodeId: string }>) => pageById(load, (episodeId) => ({ episodeId }));
const cyclePage = (load: Load<{ cycleId: string }>) => pageById(load, (cycleId) => ({ cycleId }));
const evaluationPage = (load: Load<{ evaluationId: string }>) => pageById(load, (evaluationId) => ({ evaluationId }));

/** Whoever was sent here to sign in goes on to the page of ours that sent them; most of those are Django's. */
function SignInRedirect() {
  const [search] = useSearchParams();
  const next = new URL(search.get("next") ?? "/", window.location.origin);
  const ours = next.origin === window.location.origin && next.pathname !== "/sign-in";
  useEffect(() => window.location.replace(ours ? next.href : "/"));
  return <Loading />;
}

/** A page whose id is its path: what belongs to pages from outside, such as their calls, is found by it. */
const named = (path: string, route: Pick<RouteObject, "lazy" | "element">): RouteObject => ({ id: path, path, ...route });

export const makeRoutes = (client: QueryClient): RouteObject[] => [
  {
    id: "join/:secret?",
    path: "join/:secret?",
    errorElement: <PageError />,
    HydrateFallback: Loading,
    lazy: page(client, () => import("@/features/session/join-page")),
  },
  {
    id: "reset-password",
    path: "reset-password",
    errorElement: <PageError />,
    HydrateFallback: Loading,
    lazy: page(client, () => import("@/features/session/reset-password-page")),
  },
  {
    element: <Root />,
    errorElement: <PageError />,
    HydrateFallback: Loading,
    children: [
      { id: "index", index: true, element: <Home /> },
      named("home", { lazy: page(client, () => import("@/features/home/home-page")) }),
      named("wall", { lazy: page(client, () => import("@/features/wall/wall-page")) }),
      named("queue", { lazy: page(client, () => import("@/features/queue/queue-page")) }),
      named("desk/:id", { lazy: episodePage(() => import("@/features/annotate/workspace-page")) }),
      named("episodes", { lazy: page(client, () => import("@/features/episodes/episodes-page")) }),
      named("episodes/:id", { lazy: episodePage(() => import("./episode-page")) }),
      named("recorder", { lazy: page(client, () => import("@/features/recorder/recorder-page")) }),
      named("review", { lazy: page(client, () => import("@/features/review/queue-page")) }),
      named("compare", { lazy: page(client, () => import("@/features/review/compare-page")) }),
      named("agreement", { lazy: page(client, () => import("@/features/review/agreement-page")) }),
      named("trajectories", { lazy: page(client, () => import("@/features/exports/exports-page")) }),
      named("exports", { lazy: page(client, () => import("@/features/exports/exports-page")) }),
      named("reports", { lazy: page(client, () => import("@/features/reports/reports-page")) }),
      named("policies", { lazy: page(client, () => import("@/features/policies/policies-page")) }),
      named("machines", { lazy: page(client, () => import("@/features/machines/machines-page")) }),
      named("pools", { lazy: page(client, () => import("@/features/pools/pools-page")) }),
      named("judges", { lazy: page(client, () => import("@/features/judges/judges-page")) }),
      named("people", { lazy: page(client, () => import("@/features/people/people-page")) }),
      named("webhooks", { lazy: page(client, () => import("@/features/webhooks/webhooks-page")) }),
      named("design", { lazy: page(client, () => import("@/features/design/design-page")) }),
      named("design/drafts", { lazy: page(client, () => import("@/features/design/drafts/drafts-page")) }),
      named("flywheel", { lazy: page(client, () => import("@/features/flywheel/flywheel-page")) }),
      named("flywheel/:id", { lazy: cyclePage(() => import("@/features/flywheel/cycle-page")) }),
      named("flywheel/:id/beside", { lazy: cyclePage(() => import("@/features/flywheel/trials/comparison-page")) }),
      named("benchmarks", { lazy: page(client, () => import("@/features/evaluations/runs/benchmarks-page")) }),
      named("evaluations", { lazy: page(client, () => import("@/features/evaluations/evaluations-page")) }),
      named("evaluations/:id", { lazy: evaluationPage(() => import("@/features/evaluations/evaluation-page")) }),
      named("health", { lazy: page(client, () => import("@/features/health/health-page")) }),
      named("retention", { lazy: page(client, () => import("@/features/retention/retention-page")) }),
      named("security", { lazy: page(client, () => import("@/features/session/security/security-page")) }),
      named("sign-in", { element: <SignInRedirect /> }),
      named("preferences", { lazy: page(client, () => import("@/features/preferences/preferences-page")) }),
      named("*", { element: <NotFound /> }),
    ],
  },
];

export const makeRouter = (client: QueryClient) => createBrowserRouter(makeRoutes(client));
