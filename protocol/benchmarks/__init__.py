"""Loads published benchmarks, in their publishers' formats, as tasks. The repository contains none of their text."""
