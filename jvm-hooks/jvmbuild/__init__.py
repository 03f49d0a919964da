"""What jvm-hooks/build-jvm does, one file for each part of it."""
