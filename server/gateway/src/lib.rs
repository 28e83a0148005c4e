//! The model gateway: forwards model calls, counts tokens on the wire, keeps keys out of containers.
