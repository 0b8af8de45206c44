"""The demo's policy for desktop pools: a script behind an OpenAI-compatible server, without a model."""
