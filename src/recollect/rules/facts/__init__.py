"""How a found fact changes what is known, and which words may be evidence for one."""
