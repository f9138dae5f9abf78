"""The operations of a memory, of a conversation and of documents: what programs call. One module for each subject.

An operation is a method with the decorator `@operation` (`log/operation_declarations.py`). The REST route, the MCP
tool, the client's request and the check of rights are made from this declaration. `memory/memory.py` combines the
classes.
"""
