"""The static HTML report of an experiment, and its tables as CSV files: `bocu.report.build.build`."""
