"""The dual-paradigm engine (DO1–DO8): when, where and how segments change between data stream and operation stream."""
