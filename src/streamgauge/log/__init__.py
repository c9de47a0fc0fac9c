"""Kafka: the embedded broker, topics, reading them back, and the log's own round trip."""
