"""What is measured of models: dialects, providers and the probe."""
