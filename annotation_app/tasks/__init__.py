"""What is to be done, and who is doing it."""
