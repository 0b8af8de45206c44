"""The bundled desktop tasks: files, editor, terminal, calculator, and commands and code beside them."""

from vm_bridge.suites.desktop.tasks import TASKS
from vm_bridge.suites.table_suite import TableSuite

DESKTOP = TableSuite("desktop", "desktop", TASKS)
