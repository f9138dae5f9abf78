"""The memory as tools and resources of MCP."""
