"""Compiled inner loops: arrays in, arrays out. Callers have checked every integer."""
