"""Whether the web app and what it stands on answer."""
