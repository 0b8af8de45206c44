"""Reference pages generated from the code: settings, commands, HTTP API, WebSocket messages, formats, dialects,
trainer.

`./pilothouse docs` writes them to docs/reference/generated before it builds the site. They are not committed, so they
are never stale.
"""
