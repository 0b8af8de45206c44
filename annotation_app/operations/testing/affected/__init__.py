"""Which tests a change can affect, by the import graph: `./pilothouse test --changed`.

`changes` gets the changed files from git, `source` reads the references of one Python file, `graph` adds them to
grimp's import graph, `selection` follows the graph from the changed files to the tests, `command` prints and runs.
"""
