"""Reviews of annotators' work: decisions, remarks on steps, corrections, and agreement between people."""
