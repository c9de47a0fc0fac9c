"""streamgauge: drive streaming applications with controlled load, measure them, and check their answers."""

__version__ = "0.1.0"
