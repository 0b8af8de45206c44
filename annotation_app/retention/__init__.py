"""How long what nobody needs any more is kept, and how it goes."""
