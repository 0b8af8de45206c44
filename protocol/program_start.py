"""Programs import this first: what they load next is not searched for garbage while it loads, nor when they end.

Loading makes hundreds of thousands of objects that stay. Python's own thresholds suit programs of fewer objects: with
them a fifth of the processor time of a start is garbage collection. The search at the end takes as long again, and the
system gets the memory back anyway.

The command line of httpx, which no program calls, is left out: with rich and pygments it is 70 modules. httpx does
without where it cannot be imported.
"""

import atexit
import gc
import sys

gc.set_threshold(50_000, 20, 20)
atexit.register(gc.freeze)
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None: an import of it raises ImportError
