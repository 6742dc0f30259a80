"""Building the kernels, at installation. Nothing here imports tokdfa, which may not be there yet."""
