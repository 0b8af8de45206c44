"""Element roles by UI Automation control type (UIA_ButtonControlTypeId and higher)."""

ROLES = dict(
    enumerate(
        (
            *("button", "calendar", "checkbox", "combobox", "textbox", "link", "image", "listitem", "list", "menu"),
            *("menubar", "menuitem", "progressbar", "radio", "scrollbar", "slider", "spinbutton", "statusbar"),
            *("tablist", "tab", "text", "toolbar", "tooltip", "tree", "treeitem", "custom", "group", "thumb", "grid"),
            *(
                "row",
                "document",
                "button",
                "window",
                "pane",
                "header",
                "columnheader",
                "table",
                "titlebar",
                "separator",
            ),
        ),
        start=50_000,
    )
)
