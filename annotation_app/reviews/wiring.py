"""Where a check meets the machines: an episode's acts are done again in a fresh sandbox."""
