"""Public reports replayed: the release that had the fault is found broken, the one that mended it is not."""
