"""What a run needs from the machine: Java, pinned jars, work folders, and processes that never outlive it."""
