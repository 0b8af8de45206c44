/** Which address shows which page. Pages load when they are first opened. */
import { lazy, Suspense } from "react";
import { createBrowserRouter, Navigate, Outlet, useParams, type RouteObject } from "react-router";

import { SessionGate } from "@/features/session/session-gate";
import { homeOf, useUser } from "@/shared/account/account";
import { Loading } from "@/shared/ui/states";

import { Layout } from "./layout/layout";
import { NotFound } from "./not-found";
import { PageError } from "./page-error";

const QueuePage = lazy(() => import("@/features/queue/queue-page"));
const DeskPage = lazy(() => import("@/features/annotate/desk-page"));
const EpisodesPage = lazy(() => import("@/features/episodes/episodes-page"));
const EpisodePage = lazy(() => import("./episode-page"));
const ExportsPage = lazy(() => import("@/features/exports/exports-page"));
const PreferencesPage = lazy(() => import("@/features/preferences/preferences-page"));

function Root() {
  return (
    <SessionGate>
      <Layout>
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </Layout>
    </SessionGate>
  );
}

function Home() {
  return <Navigate to={homeOf(useUser())} replace />;
}

function Episode() {
  const { id = "" } = useParams();
  return <EpisodePage key={id} episodeId={id} />;
}

function Desk() {
  const { id = "" } = useParams();
  return <DeskPage key={id} episodeId={id} />;
}

export const routes: RouteObject[] = [
  {
    element: <Root />,
    errorElement: <PageError />,
    children: [
      { index: true, element: <Home /> },
      { path: "queue", element: <QueuePage /> },
      { path: "desk/:id", element: <Desk /> },
      { path: "episodes", element: <EpisodesPage /> },
      { path: "episodes/:id", element: <Episode /> },
      { path: "exports", element: <ExportsPage /> },
      { path: "preferences", element: <PreferencesPage /> },
      { path: "*", element: <NotFound /> },
    ],
  },
];

export const makeRouter = () => createBrowserRouter(routes);
