"""Who proposes: any OpenAI-compatible server, or a script for tests."""
