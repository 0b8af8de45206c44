"""Tasks on web sites: crawled, written by a model, filtered, and kept where a script proves their check."""
