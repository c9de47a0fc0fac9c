"""One file per application: what Flink runs for it, stage by stage, as a query; found by walking this folder."""
