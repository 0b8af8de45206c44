"""What runs in a pod beside the guest, with the standard library alone: docs/guides/operator/kubernetes.md."""

PORT = 8016
"""Where a pod's first process listens for its bridge."""
SECRET_VARIABLE = "PILOTHOUSE_POD_SECRET"  # noqa: S105 - the name of a variable
"""The variable with the secret that the bridge of this pod knows."""
