"""Desktops in pods of a Kubernetes cluster, through the official client: docs/guides/operator/kubernetes.md.

Only `pod_api` imports the client, when a host is made. `requirements.txt` in this folder lists it.
"""
