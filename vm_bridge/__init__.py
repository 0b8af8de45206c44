"""The platform layer: the machines that a policy or a person acts on, and their live pictures."""
