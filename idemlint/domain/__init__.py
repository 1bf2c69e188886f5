"""What the analysis speaks about: values and their origins, effects, facts and guards, the summary of a run."""
