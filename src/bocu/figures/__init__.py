"""Figures: one module a family, each read from cubes, all drawn in the style of `bocu.figures.style`."""
