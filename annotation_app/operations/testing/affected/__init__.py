"""Which tests a change can affect, by the import graph: `./pilothouse test --changed`.

`changes` asks git for the changed files, `source` reads what one Python file refers to, `graph` joins that to
grimp's import graph, `selection` follows the graph from the changed files to the tests, `command` prints and runs.
"""
