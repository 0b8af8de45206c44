"""Serves machines as environments for other programs: OpenEnv's socket and MCP over HTTP."""
