"""The vector protocol, for clients and servers: docs/vector-protocol.md of the project specifies it."""
