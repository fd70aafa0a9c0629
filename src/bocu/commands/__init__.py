"""The commands of `bocu`, one module each; `bocu.cli` puts them together."""
