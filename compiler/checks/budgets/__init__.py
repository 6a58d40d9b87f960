"""What a plan takes of the machine, counted: a file is a check, the function named after it."""
