"""What the programs that read exports make of them: run in their own environments, not in the platform's."""
