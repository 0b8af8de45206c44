"""The built front-end, and the headers every answer carries."""
