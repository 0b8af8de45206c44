"""How each model family writes screens and actions: one file a family."""
