"""The demo's policy for desktop pools: a script behind an OpenAI-compatible server, and no model."""
