"""Pilothouse machines as sandboxes: `inspect_sandbox` for Inspect, `harbor_environment` for Harbor."""
