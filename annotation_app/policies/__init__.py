"""Which policies propose, revision by revision."""
