"""Own tasks for GIMP and VLC."""

from typing import Any

from benchmarks.parts.applications.documents import picture, sound
from benchmarks.parts.applications.own_tasks import HOME, Act, OwnTask, file_of, keys, printed, rule, typed, wait

PICTURE, ORIGINAL, SOUND = "Pictures/stripes.png", "Pictures/.original.png", "Music/evening.wav"
WIDTH, HEIGHT = 240, 160


def command(words: str, *, below: int = 0) -> tuple[Act, ...]:
    """A command of GIMP by its search: the one so many places below the first, which may be the view's own."""
    return keys("/"), typed(words), wait(1), *([keys("down")] * below), keys("enter"), wait(1)


def gimp(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act) -> OwnTask:
    """A task with the picture open; its solution overwrites the file."""
    image = picture(WIDTH, HEIGHT)
    return OwnTask(
        identifier,
        "gimp",
        instruction,
        evaluator,
        (*acts, *command("overwrite")),
        {PICTURE: image, ORIGINAL: image},
        ("gimp", f"{HOME}/{PICTURE}"),
        "[stripes]",
    )


def vlc(identifier: str, instruction: str, evaluator: dict[str, Any], *acts: Act, playing: bool = False) -> OwnTask:
    """A task with VLC open, and a sound to play."""
    launch = ("vlc", f"{HOME}/{SOUND}") if playing else ("vlc",)
    window = "evening.wav" if playing else "VLC media player"
    return OwnTask(identifier, "vlc", instruction, evaluator, acts, {SOUND: sound(240)}, launch, window)


MEDIA_TASKS = (
    gimp(
        "gimp_mirror",
        "Mirror the open picture, so that left becomes right, and overwrite its file.",
        {"func": "check_image_mirror", "result": file_of(ORIGINAL), "expected": file_of(PICTURE)},
        *command("flip horizontally", below=1),
    ),
    gimp(
        "gimp_rotate",
        "Rotate the open picture by 90 degrees, so that it stands upright, and overwrite its file.",
        {
            "func": "check_image_size",
            "result": file_of(PICTURE),
            "expected": rule(width=HEIGHT, height=WIDTH),
        },
        *command("rotate 90", below=2),
    ),
    gimp(
        "gimp_grey",
        "Convert the open picture to the grayscale mode and overwrite its file.",
        printed(f"python -c \"print(open('{HOME}/{PICTURE}', 'rb').read()[25])\"", expected="0\n"),
        *command("grayscale"),
    ),
    vlc(
        "vlc_play",
        "Play the file evening.wav of the folder Music.",
        {
            "func": "is_vlc_playing",
            "result": {"type": "vlc_playing_info", "dest": "status.xml"},
            "expected": rule(type="file_name", file_name="evening.wav"),
        },
        keys("ctrl", "o"),
        wait(1),
        typed(f"{HOME}/{SOUND}\n"),
        wait(2),
    ),
    vlc(
        "vlc_playlist",
        "Save the playlist as evening.xspf in the folder Music.",
        printed(f"cat {HOME}/Music/evening.xspf", include=["evening.wav"]),
        keys("ctrl", "y"),
        wait(1),
        typed(f"{HOME}/Music/evening.xspf\n"),
        wait(1),
        playing=True,
    ),
)
