/** Which address shows which page. Pages load when they are first opened, the first one while the sign-in is still asked for. */
import { useEffect, type ComponentType } from "react";
import { createBrowserRouter, Navigate, Outlet, useParams, useSearchParams, type RouteObject } from "react-router";

import { SessionGate } from "@/features/session/session-gate";
import { homeOf, useUser } from "@/shared/account/account";
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

/** By the router and not by `lazy`: React holds back what follows a fallback for 300 ms. */
const page = (load: () => Promise<{ default: ComponentType }>): RouteObject["lazy"] => async () => ({
  Component: (await load()).default,
});

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

export const routes: RouteObject[] = [
  {
    id: "join/:secret?",
    path: "join/:secret?",
    errorElement: <PageError />,
    HydrateFallback: Loading,
    lazy: page(() => import("@/features/session/join-page")),
  },
  {
    id: "reset-password",
    path: "reset-password",
    errorElement: <PageError />,
    HydrateFallback: Loading,
    lazy: page(() => import("@/features/session/reset-password-page")),
  },
  {
    element: <Root />,
    errorElement: <PageError />,
    HydrateFallback: Loading,
    children: [
      { id: "index", index: true, element: <Home /> },
      named("home", { lazy: page(() => import("@/features/home/home-page")) }),
      named("wall", { lazy: page(() => import("@/features/wall/wall-page")) }),
      named("queue", { lazy: page(() => import("@/features/queue/queue-page")) }),
      named("desk/:id", { lazy: episodePage(() => import("@/features/annotate/workspace-page")) }),
      named("episodes", { lazy: page(() => import("@/features/episodes/episodes-page")) }),
      named("episodes/:id", { lazy: episodePage(() => import("./episode-page")) }),
      named("recorder", { lazy: page(() => import("@/features/recorder/recorder-page")) }),
      named("review", { lazy: page(() => import("@/features/review/queue-page")) }),
      named("compare", { lazy: page(() => import("@/features/review/compare-page")) }),
      named("agreement", { lazy: page(() => import("@/features/review/agreement-page")) }),
      named("trajectories", { lazy: page(() => import("@/features/exports/exports-page")) }),
      named("exports", { lazy: page(() => import("@/features/exports/exports-page")) }),
      named("reports", { lazy: page(() => import("@/features/reports/reports-page")) }),
      named("policies", { lazy: page(() => import("@/features/policies/policies-page")) }),
      named("machines", { lazy: page(() => import("@/features/machines/machines-page")) }),
      named("pools", { lazy: page(() => import("@/features/pools/pools-page")) }),
      named("judges", { lazy: page(() => import("@/features/judges/judges-page")) }),
      named("people", { lazy: page(() => import("@/features/people/people-page")) }),
      named("webhooks", { lazy: page(() => import("@/features/webhooks/webhooks-page")) }),
      named("design", { lazy: page(() => import("@/features/design/design-page")) }),
      named("design/drafts", { lazy: page(() => import("@/features/design/drafts/drafts-page")) }),
      named("flywheel", { lazy: page(() => import("@/features/flywheel/flywheel-page")) }),
      named("flywheel/:id", { lazy: cyclePage(() => import("@/features/flywheel/cycle-page")) }),
      named("flywheel/:id/beside", { lazy: cyclePage(() => import("@/features/flywheel/trials/comparison-page")) }),
      named("benchmarks", { lazy: page(() => import("@/features/evaluations/runs/benchmarks-page")) }),
      named("evaluations", { lazy: page(() => import("@/features/evaluations/evaluations-page")) }),
      named("evaluations/:id", { lazy: evaluationPage(() => import("@/features/evaluations/evaluation-page")) }),
      named("health", { lazy: page(() => import("@/features/health/health-page")) }),
      named("retention", { lazy: page(() => import("@/features/retention/retention-page")) }),
      named("security", { lazy: page(() => import("@/features/session/security/security-page")) }),
      named("sign-in", { element: <SignInRedirect /> }),
      named("preferences", { lazy: page(() => import("@/features/preferences/preferences-page")) }),
      named("*", { element: <NotFound /> }),
    ],
  },
];

export const makeRouter = () => createBrowserRouter(routes);
