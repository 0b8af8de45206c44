"""Pools, as admins make, fill, change, assign and stop them."""
