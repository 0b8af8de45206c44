"""A Kubernetes cluster for tests: the part of its API that a bridge uses, and one node that runs pods in namespaces."""
