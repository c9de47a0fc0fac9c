"""`make bench`: speed as ratios, each side measured beside the other in one run."""
