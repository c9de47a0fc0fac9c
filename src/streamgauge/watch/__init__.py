"""Samplers of CPU, memory, network and offsets, from outside the measured processes."""
