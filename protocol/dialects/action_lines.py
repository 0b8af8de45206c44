"""Action space lines that several dialects share: a prompt's description of an action and its syntax."""

TOOL_LINES = {
    "run_command": "run_command(content='xxx') # Run a command line; give timeout='seconds' if 30 are too few.",
    "type_terminal": r"type_terminal(content='xxx') # Type in an interactive terminal; \n submits, \x03 is Ctrl-C.",
    "list_files": "list_files(path='xxx') # What is in a folder; paths begin at the home folder.",
    "read_file": "read_file(path='xxx')",
    "write_file": "write_file(path='xxx', content='xxx')",
    "edit_file": "edit_file(path='xxx', old='xxx', new='xxx') # Replace the one occurrence of a text.",
    "download_file": "download_file(path='xxx') # Hand a file to the user.",
    "run_code": "run_code(content='xxx') # Run Python; variables are kept.",
    "call_tool": "call_tool(name='xxx', arguments='{}') # Call one of the tools below; arguments is a JSON object.",
}
"""Files, commands and tools."""

POINTER_LINES = {
    "click": "click(point='<point>x1 y1</point>')",
    "double_click": "left_double(point='<point>x1 y1</point>')",
    "right_click": "right_single(point='<point>x1 y1</point>')",
    "drag": "drag(start_point='<point>x1 y1</point>', end_point='<point>x2 y2</point>')",
}
"""The pointer, with points in `<point>` tags."""
