"""Where counts and timings can go besides the store: a Prometheus registry, OpenTelemetry's API.

Nothing here opens a port or sends anything: Prometheus is read by whoever serves its registry, and OpenTelemetry's API
does nothing until the program that uses everword sets up its own provider.
"""
