"""Whether an attempt did its task: a verifier's word, a model that reads the attempt, a model that knows the answer."""
