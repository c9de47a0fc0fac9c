"""What the engines on Spark share: session, source, codec between queries, sink, and the compiler of stages."""
