"""The web application: the desk, its storage and everything around it."""
