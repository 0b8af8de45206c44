"""Task design: a graph of what people do, task difficulty, coverage, and new wordings."""
