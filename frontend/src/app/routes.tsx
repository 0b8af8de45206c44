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

export const routes: RouteObject[] = [
  {
    path: "join/:secret?",
    errorElement: <PageError />,
    HydrateFallback: Loading,
    lazy: page(() => import("@/features/session/join-page")),
  },
  {
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
      { index: true, element: <Home /> },
      { path: "home", lazy: page(() => import("@/features/home/home-page")) },
      { path: "wall", lazy: page(() => import("@/features/wall/wall-page")) },
      { path: "queue", lazy: page(() => import("@/features/queue/queue-page")) },
      { path: "desk/:id", lazy: episodePage(() => import("@/features/annotate/workspace-page")) },
      { path: "episodes", lazy: page(() => import("@/features/episodes/episodes-page")) },
      { path: "episodes/:id", lazy: episodePage(() => import("./episode-page")) },
      { path: "review", lazy: page(() => import("@/features/review/queue-page")) },
      { path: "compare", lazy: page(() => import("@/features/review/compare-page")) },
      { path: "agreement", lazy: page(() => import("@/features/review/agreement-page")) },
      { path: "trajectories", lazy: page(() => import("@/features/exports/exports-page")) },
      { path: "exports", lazy: page(() => import("@/features/exports/exports-page")) },
      { path: "reports", lazy: page(() => import("@/features/reports/reports-page")) },
      { path: "policies", lazy: page(() => import("@/features/policies/policies-page")) },
      { path: "machines", lazy: page(() => import("@/features/machines/machines-page")) },
      { path: "pools", lazy: page(() => import("@/features/pools/pools-page")) },
      { path: "judges", lazy: page(() => import("@/features/judges/judges-page")) },
      { path: "people", lazy: page(() => import("@/features/people/people-page")) },
      { path: "webhooks", lazy: page(() => import("@/features/webhooks/webhooks-page")) },
      { path: "design", lazy: page(() => import("@/features/design/design-page")) },
      { path: "flywheel", lazy: page(() => import("@/features/flywheel/flywheel-page")) },
      { path: "flywheel/:id", lazy: cyclePage(() => import("@/features/flywheel/cycle-page")) },
      { path: "flywheel/:id/beside", lazy: cyclePage(() => import("@/features/flywheel/trials/comparison-page")) },
      { path: "benchmarks", lazy: page(() => import("@/features/evaluations/runs/benchmarks-page")) },
      { path: "evaluations", lazy: page(() => import("@/features/evaluations/evaluations-page")) },
      { path: "evaluations/:id", lazy: evaluationPage(() => import("@/features/evaluations/evaluation-page")) },
      { path: "health", lazy: page(() => import("@/features/health/health-page")) },
      { path: "retention", lazy: page(() => import("@/features/retention/retention-page")) },
      { path: "security", lazy: page(() => import("@/features/session/security/security-page")) },
      { path: "sign-in", element: <SignInRedirect /> },
      { path: "preferences", lazy: page(() => import("@/features/preferences/preferences-page")) },
      { path: "*", element: <NotFound /> },
    ],
  },
];

export const makeRouter = () => createBrowserRouter(routes);
