"""The words all layers share: frozen pydantic types, free of input and output."""
