"""Tests that need torch: `./pilothouse test` runs them in the trainer's own environment."""
