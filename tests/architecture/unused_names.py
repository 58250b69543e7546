"""Names that vulture reports and that are used all the same; each line gives the reason.

Only vulture reads this file. A new line needs a reader outside our own code.
"""

_.__call__  # the one method of a Protocol

# asyncio keeps a weak reference to a task: the attribute keeps it alive.
_._serving

# Set for, or called by, mitmproxy, pytest, tempfile, Starlette, socketserver, http.server, httptools and io.
_.on_body
_.responseheaders
_.longrepr
_.tempdir
_.redirect_slashes
_.daemon_threads
_.block_on_close
_.request_queue_size
_.handle_error
client_address
_.protocol_version
_.disable_nagle_algorithm
_.close_connection
_.readinto

# Fields of dataclasses that are read by name, or all at once.
_.memory_mb
_.fixed
_.became_tested
_.tls_key_digest
_.example
_.lock_digest
_.project_digest

# What libcst asks a visitor for, and the code that Python runs a function by.
_.METADATA_DEPENDENCIES
_.on_visit
_.on_leave
_.__code__

# What pickle asks a pickler for.
_.reducer_override

# What xdist asks a scheduler for.
_.schedule
_.collection_is_completed
