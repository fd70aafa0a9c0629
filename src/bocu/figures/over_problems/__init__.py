"""Figures that compare algorithms over several problems, drawn from `bocu.evaluation.across_problems`."""
