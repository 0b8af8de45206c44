"""The platform layer: machines a policy or a person can act on, and their live pictures."""
