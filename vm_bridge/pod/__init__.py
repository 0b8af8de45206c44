"""What runs in a pod beside the guest, and the folder that its image holds: docs/guides/operator/kubernetes.md.

`init` and `frame_sender` use the standard library and the guest's code alone.
"""

PORT = 8016
"""Where a pod's first process listens for its bridge."""
SECRET_VARIABLE = "PILOTHOUSE_POD_SECRET"  # noqa: S105 - the name of a variable
"""The variable with the secret that the bridge of this pod knows."""
