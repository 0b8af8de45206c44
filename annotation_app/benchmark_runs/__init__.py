"""Benchmark runs as the web app shows them: how far they are, what they come to, and a way to cancel one."""
