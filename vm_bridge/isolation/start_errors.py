"""Says what to do when a sandbox cannot start."""

PACKAGES = "tigervnc-standalone-server openbox pcmanfm xterm mousepad galculator chromium bubblewrap xclip"
HINTS = (
    (
        ("No permissions to create new namespace", "Creating new namespace failed", "setting up uid map"),
        "this system forbids user namespaces to ordinary users. Allow them with "
        "'sysctl kernel.apparmor_restrict_unprivileged_userns=0' (Ubuntu 23.10 and later), "
        "'sysctl kernel.unprivileged_userns_clone=1' (older Debian) or 'sysctl user.max_user_namespaces=15000', "
        "or run in a container with the seccomp profile that lets 'unshare' through",
    ),
    (("No such file or directory: 'Xtigervnc'", "No such file or directory: 'openbox'"), f"install {PACKAGES}"),
    (("execvp /usr/bin/python3",), "install python3"),
)


def explain_start_failure(errors: str) -> str:
    """The advice for what a sandbox said when it died, or its last words themselves."""
    for signs, advice in HINTS:
        if any(sign in errors for sign in signs):
            return advice
    return " ".join(errors.split())[-400:]
