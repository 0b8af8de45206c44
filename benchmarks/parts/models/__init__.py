"""Parts of `bench models`."""
