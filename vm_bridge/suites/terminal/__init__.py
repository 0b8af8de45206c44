"""The bundled tasks for a machine without a screen: commands, files, an interactive program, code, notes."""

from vm_bridge.suites.table_suite import TableSuite
from vm_bridge.suites.terminal.tasks import TASKS

TERMINAL = TableSuite("terminal", "terminal", TASKS)
