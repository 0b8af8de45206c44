"""All HTTP routes."""

from django.contrib import admin
from django.urls import include, path, re_path

from annotation_app.accounts.api import router as accounts
from annotation_app.accounts.people_api import router as people
from annotation_app.accounts.security_api import router as security
from annotation_app.benchmark_runs.api import router as benchmark_runs
from annotation_app.catalogue.api import router as catalogue
from annotation_app.design.api import router as design
from annotation_app.design.applications_api import router as applications
from annotation_app.design.draft_api import router as drafts
from annotation_app.episodes.api import router as episodes
from annotation_app.evaluations.api import router as evaluations
from annotation_app.exports.api import router as exports
from annotation_app.feed.api import router as feed
from annotation_app.fleet.api import router as fleet
from annotation_app.flywheel.api import router as flywheel
from annotation_app.health.api import router as health
from annotation_app.home.api import router as home
from annotation_app.http_api import api_make
from annotation_app.imports.api import router as imports
from annotation_app.imports.uploads_api import router as uploads
from annotation_app.judges.api import router as judges
from annotation_app.live.api import router as live
from annotation_app.live.machine_api import router as machine_api
from annotation_app.live.suite_api import router as suites
from annotation_app.notifications.api import notices_router, webhooks_router
from annotation_app.pools.api import router as pools
from annotation_app.probes.api import router as probes
from annotation_app.promotions.api import router as promotions
from annotation_app.recorder.api import router as recorder
from annotation_app.recordings.api import router as recordings
from annotation_app.refills.api import router as refills
from annotation_app.reports.api import router as reports
from annotation_app.retention.api import router as retention
from annotation_app.reviews.api import router as reviews
from annotation_app.reviews.batch_api import router as review_batches
from annotation_app.reviews.speech_api import router as speech
from annotation_app.tasks.api import router as tasks
from annotation_app.wall.api import router as wall
from annotation_app.web.views import admin_sign_in, frontend_page

api = api_make()
ROUTERS = (
    *(health, accounts, people, security, tasks, pools, promotions, live, machine_api, episodes, recordings, exports),
    *(imports, uploads, catalogue, feed, judges, reviews, reports, fleet, retention, design, drafts, flywheel, probes),
    *(notices_router, webhooks_router, benchmark_runs, evaluations, wall, home, suites, refills, applications),
    *(recorder, speech, review_batches),
)
for router in ROUTERS:
    api.add_router("", router)

urlpatterns = [
    path("api/", api.urls),
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
    path("sso/", include("annotation_app.accounts.sso_urls")),
    re_path(r"^(?!api/|admin/|sso/|static/|assets/|ws/).*$", frontend_page, name="page"),
]
