"""Which files an act and a cycle enter: a tracer that every Python process of a platform loads, and what it counted."""
