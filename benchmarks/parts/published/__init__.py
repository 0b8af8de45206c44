"""Tasks of our own in the forms of published benchmarks, played by the four that every adapter must tell apart."""
