"""Django settings: `env` reads the environment, `base` holds what never differs."""
