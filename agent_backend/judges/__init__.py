"""Judges of attempts: the verifier's verdict, a model that reads the attempt, a model that knows the answer."""
