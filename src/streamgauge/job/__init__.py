"""The job process: takes job files one after another, so that trials can share a warm JVM."""
