"""Figures that compare algorithms over several problems, drawn from `bocu.sweep.evaluation.across_problems`."""
