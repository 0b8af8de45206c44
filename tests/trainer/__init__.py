"""Tests that need torch; tests/integration/trainer runs them in the trainer's own environment."""
