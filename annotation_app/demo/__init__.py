"""What a fresh installation is filled with, so that everything can be tried at once."""
