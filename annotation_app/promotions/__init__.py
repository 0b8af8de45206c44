"""Which revision proposes in which pool: set by hand, on trial, or promoted by the pool's gate."""
