"""Gives machines to who asks. Stateless over Redis: any number of these processes serve the same fleet."""
