"""What benchmarks and searches measured: speed, growth, and properties of real tokenizers."""
