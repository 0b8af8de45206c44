"""What can go wrong in the trainer.

TrainerError                every error of this package; `code` is stable
├── FolderError             a folder of trajectories cannot be used; nothing of it was
│   ├── FolderUnfinished    it is still being written, or never was finished
│   ├── FolderUnknown       it is no folder of trajectories, or of a format this version does not read
│   ├── FolderDamaged       a file is missing, altered, outside the folder, or does not agree with the others
│   └── TrajectoryUnreadable  a line is no trajectory
└── CheckpointError         a checkpoint cannot be used; what runs goes on with the one it has
    ├── CheckpointUnusable    its folder is missing, unfinished or damaged
    └── CheckpointMismatched  its weights are of another model
"""


class TrainerError(Exception):
    """Base of all; the message is for people, `code` is for programs."""

    code = "trainer_error"


class FolderError(TrainerError):
    code = "folder_error"


class FolderUnfinished(FolderError):
    code = "folder_unfinished"


class FolderUnknown(FolderError):
    code = "folder_unknown"


class FolderDamaged(FolderError):
    code = "folder_damaged"


class TrajectoryUnreadable(FolderError):
    code = "trajectory_unreadable"


class CheckpointError(TrainerError):
    code = "checkpoint_error"


class CheckpointUnusable(CheckpointError):
    code = "checkpoint_unusable"


class CheckpointMismatched(CheckpointError):
    code = "checkpoint_mismatched"
