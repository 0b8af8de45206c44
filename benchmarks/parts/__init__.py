"""What the benchmarks are made of: one module a thing measured."""
