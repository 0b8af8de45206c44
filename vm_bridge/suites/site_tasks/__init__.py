"""Tasks on web sites that travel as data: a site, a check and a script in the task's own parameters."""

from vm_bridge.suites.site_tasks.suite import SiteTaskSuite

__all__ = ["SiteTaskSuite"]
