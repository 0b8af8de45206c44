"""Programs import this first: what they load next is not searched for garbage while it loads, nor when they end.

Loading makes hundreds of thousands of objects that stay. Python's own thresholds suit programs of fewer objects: with
them a fifth of the processor time of a start is garbage collection. The search at the end takes as long again, and the
system gets the memory back anyway.
"""

import atexit
import gc

gc.set_threshold(50_000, 20, 20)
atexit.register(gc.freeze)
