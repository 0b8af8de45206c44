"""Tasks, and the people who work on them."""
