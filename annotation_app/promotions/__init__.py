"""Which revision proposes in which pool: by hand, on trial, or because it passed the pool's gate."""
