"""A real GTK program: a window with a button, a field for text and one for a password."""

import ctypes

TOP_LEVEL, VERTICAL = 0, 1
NAME = b"gtk-form"


def main() -> None:
    """Show the window until the program is ended."""
    gtk = ctypes.CDLL("libgtk-3.so.0")
    for name in ("gtk_window_new", "gtk_box_new", "gtk_entry_new", "gtk_button_new_with_label"):
        getattr(gtk, name).restype = ctypes.c_void_p
    gtk.gtk_button_new_with_label.argtypes = [ctypes.c_char_p]
    gtk.gtk_window_set_default_size.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    gtk.gtk_container_add.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    gtk.gtk_box_pack_start.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 2, ctypes.c_uint]
    gtk.gtk_entry_set_visibility.argtypes = [ctypes.c_void_p, ctypes.c_int]
    gtk.gtk_widget_show_all.argtypes = [ctypes.c_void_p]
    gtk.g_set_prgname(NAME)
    gtk.gtk_init(None, None)
    window, box = gtk.gtk_window_new(TOP_LEVEL), gtk.gtk_box_new(VERTICAL, 0)
    button, text, password = gtk.gtk_button_new_with_label(b"Save"), gtk.gtk_entry_new(), gtk.gtk_entry_new()
    gtk.gtk_entry_set_visibility(password, 0)
    for part in (button, text, password):
        gtk.gtk_box_pack_start(box, part, 1, 1, 0)
    gtk.gtk_container_add(window, box)
    gtk.gtk_window_set_default_size(window, 300, 300)
    gtk.gtk_widget_show_all(window)
    gtk.gtk_main()


if __name__ == "__main__":
    main()
