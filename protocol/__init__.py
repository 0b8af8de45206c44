"""The words all layers share: frozen pydantic types, free of input and output."""

__version__ = "0.2.0"
"""Version of Pilothouse: of the platform, its pages, the recorder and the packages in `clients/`."""
