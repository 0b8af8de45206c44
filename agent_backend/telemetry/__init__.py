"""Spans of episodes for an OpenTelemetry collector; off unless the environment names one."""
