"""What is done for one wrapper, by the standard library alone: it can be sent to another machine."""
