# SPDX-License-Identifier: Apache-2.0
"""Refuses to be imported in a subinterpreter: the extensions' types belong to one interpreter a process, and on
Python 3.11 and older the import would not return."""


def _is_main() -> bool:
    try:
        import _interpreters as interpreters  # Python 3.13 and newer
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:  # an interpreter that was built without them
            return True
    return interpreters.get_current() == interpreters.get_main()


if not _is_main():
    raise ImportError(
        "novaphy works in the main interpreter of a process only, and this is a subinterpreter; use threads, or "
        "processes made by multiprocessing's 'spawn'"
    )
