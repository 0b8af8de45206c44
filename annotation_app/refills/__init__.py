"""New tasks for pools whose policy fails at a kind of task."""
