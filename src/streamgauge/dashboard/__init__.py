"""The page: stored runs to look at and compare, served by this machine alone."""
