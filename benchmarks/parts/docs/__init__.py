"""What `./pilothouse bench docs` counts."""
