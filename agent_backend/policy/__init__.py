"""Policies: any OpenAI-compatible server, hosted models, or a script for tests."""
