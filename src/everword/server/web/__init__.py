"""The dashboard: pages that show, explain and correct a memory, made on the server, with the rights of the REST routes.

A page uses the engine's public methods and nothing else. What people and models said is text: every template escapes.
"""
