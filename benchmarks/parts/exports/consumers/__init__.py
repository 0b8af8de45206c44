"""What the programs that learn from exports make of them: run in their own environment, not in the platform's."""
