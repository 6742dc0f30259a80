"""Pages to look at: one file, which needs nothing else."""
