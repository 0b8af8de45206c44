"""Episodes: attempts at tasks, recorded step by step. Exports, datasets and reviews are made from them."""
