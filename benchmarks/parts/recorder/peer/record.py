"""Record with openadapt-capture until a line comes on standard input; run by the interpreter that has it.

The first argument is the folder of the recording. `ready` is written once it records.
"""

import sys

from openadapt_capture import Recorder

if __name__ == "__main__":  # its workers are processes that import this file
    with Recorder(sys.argv[1], task_description="Fill in the form", capture_audio=False) as recorder:
        if not recorder.wait_for_ready():
            sys.exit("it did not become ready")
        print("ready", flush=True)
        sys.stdin.readline()
