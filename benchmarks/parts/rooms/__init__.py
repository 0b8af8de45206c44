"""What `./pilothouse bench rooms` measures, a module for each of its parts."""
