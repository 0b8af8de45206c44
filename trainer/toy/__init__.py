"""A world small enough to learn in within a minute on a processor, and the tiny policy that plays in it."""
