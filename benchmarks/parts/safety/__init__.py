"""What `./pilothouse bench safety` tries."""
