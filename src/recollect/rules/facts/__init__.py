"""What becomes of a fact that was found, and which words may ground one."""
