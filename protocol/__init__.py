"""The vocabulary that all layers share: frozen pydantic types without I/O."""

__version__ = "0.2.0"
"""Version of Pilothouse: of the platform, its pages, the recorder and the packages in `clients/`."""
