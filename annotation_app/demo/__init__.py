"""Demo data for a fresh installation."""
