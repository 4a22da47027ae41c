"""The ways in to a scripted server: one thin shell each around the same script."""
