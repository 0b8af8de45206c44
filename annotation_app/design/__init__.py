"""Which tasks there should be: a graph of what people do, how hard tasks are, what is covered, and new wordings."""
