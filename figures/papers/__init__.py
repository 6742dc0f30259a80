"""Figures and tables of the papers, drawn and measured anew, and what their open questions come to."""
