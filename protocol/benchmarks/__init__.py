"""Published benchmarks in the form in which their publishers give them away, as tasks. None of their text is here."""
