"""Errors of the trainer.

TrainerError                every error of this package; `code` is stable
├── FolderError             a folder of trajectories cannot be used; nothing of it was
│   ├── FolderUnfinished    it is still being written, or never was finished
│   ├── FolderUnknown       it is no folder of trajectories, or of a format this version does not read
│   ├── FolderDamaged       a file is missing, altered, outside the folder, or does not agree with the others
│   ├── TrajectoryUnreadable  a line is no trajectory
│   └── ChatUnreadable      a line is no conversation
├── SampleError             a sample cannot be trained on as it is
│   ├── SampleTooLong       it has more tokens than fit
│   ├── SampleUnreadable    a picture or a text of it that the model cannot take
│   ├── SampleForeign       a policy read this conversation as other tokens than this model does
│   ├── SampleUnsayable     the dialect has no words for it, or the state is not kept
│   └── NothingToLearn      no sample is left
├── RolloutError            attempts to improve on cannot be used, or do not come
│   ├── AttemptUnusable     nothing of it can be learned
│   │   └── AttemptUnjudged it has no outcome: no verdict, judgement or human outcome
│   ├── AttemptStale        weights that are too old drew it, or weights of no version of this run
│   ├── RolloutsMissing     too few came in time
│   └── WorkerBusy          another process plays under this name
├── CheckpointError         a checkpoint cannot be used; what runs goes on with the one it has
│   ├── CheckpointUnusable    its folder is missing, unfinished or damaged
│   └── CheckpointMismatched  its weights are of another model, or its run of other settings
├── ConfigError             a command was told something it cannot do
│   ├── ConfigUnreadable    the file is missing or no JSON object, or a word is not FIELD=VALUE
│   ├── ConfigUnknown       there is no such setting
│   └── ConfigInvalid       a value is of another type, or out of bounds
├── OutputExists            what is to be made is there already
└── TrainingDiverged        a gradient is no number; the newest checkpoint is as it was
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


class ChatUnreadable(FolderError):
    code = "chat_unreadable"


class RolloutError(TrainerError):
    code = "rollout_error"


class AttemptUnusable(RolloutError):
    code = "attempt_unusable"


class AttemptUnjudged(AttemptUnusable):
    code = "attempt_unjudged"


class AttemptStale(RolloutError):
    code = "attempt_stale"


class RolloutsMissing(RolloutError):
    code = "rollouts_missing"


class WorkerBusy(RolloutError):
    code = "worker_busy"


class CheckpointError(TrainerError):
    code = "checkpoint_error"


class CheckpointUnusable(CheckpointError):
    code = "checkpoint_unusable"


class CheckpointMismatched(CheckpointError):
    code = "checkpoint_mismatched"


class SampleError(TrainerError):
    code = "sample_error"


class SampleTooLong(SampleError):
    code = "sample_too_long"


class SampleUnreadable(SampleError):
    code = "sample_unreadable"


class SampleForeign(SampleError):
    code = "sample_foreign"


class SampleUnsayable(SampleError):
    code = "sample_unsayable"


class NothingToLearn(SampleError):
    code = "nothing_to_learn"


class ConfigError(TrainerError):
    code = "config_error"


class ConfigUnreadable(ConfigError):
    code = "config_unreadable"


class ConfigUnknown(ConfigError):
    code = "config_unknown"


class ConfigInvalid(ConfigError):
    code = "config_invalid"


class OutputExists(TrainerError):
    code = "output_exists"


class TrainingDiverged(TrainerError):
    code = "training_diverged"
