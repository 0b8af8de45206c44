"""Our machines as environments of other programs: OpenEnv's socket and MCP over HTTP."""
