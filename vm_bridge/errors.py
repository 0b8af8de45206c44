"""Errors of machines.

BridgeError                 every error of this package; `code` is stable
├── MachineGone             the machine died, hung or was reclaimed
├── StaleLease              another holder has a higher fencing token, or the lease ended
├── UnsupportedAction       this machine cannot do that kind of action
├── InvalidAction           the action cannot be done as it is (off the screen, too long)
├── CannotRestore           an earlier state could not be restored; nothing changed
├── CommandConflict         a command_id was resent with another body
├── OutcomeUnknown          a crash left open whether the act happened
├── NoMachine               nothing free within the wait
│   ├── SandboxUnavailable  this host cannot sandbox it, and running without a sandbox was not allowed
│   ├── ApplicationMissing  this host lacks an application that the image is made of
│   ├── PodImageUnavailable the cluster cannot start a pod of the configured image
│   ├── ClusterFull         no node has room for a pod, or the namespace's quota is used up
│   └── ClusterUnavailable  the cluster's API does not answer, or does not allow the bridge what it needs
├── UnknownClaim            this request for a machine is unknown or expired
├── UnknownHost             no such host
├── UnknownTask             no such suite or task
├── UnsupportedTask         a task's file needs something unsupported; nothing changed
├── VerifierFailed          a task's verifier itself failed: the task's outcome is unknown
├── UnknownBlob             the bytes of a picture are no longer kept
├── UnknownRecording        no such recording, or it was deleted to free space
├── InvalidOffer            a viewer's WebRTC offer cannot be answered
├── TicketRefused           a stream ticket is forged, expired, used or bound to something else
└── BridgeUnavailable       the bridge did not answer in time
"""

from typing import ClassVar


class BridgeError(Exception):
    """Base of all; the message is for people, `code` is for programs."""

    code: ClassVar[str] = "bridge_error"
    status: ClassVar[int] = 500
    """HTTP status of the error."""


class MachineGone(BridgeError):
    code = "machine_gone"
    status = 410


class StaleLease(BridgeError):
    code = "stale_lease"
    status = 409


class UnsupportedAction(BridgeError):
    code = "unsupported_action"
    status = 422


class InvalidAction(BridgeError):
    code = "invalid_action"
    status = 422


class CannotRestore(BridgeError):
    code = "cannot_restore"
    status = 409


class CommandConflict(BridgeError):
    code = "command_conflict"
    status = 409


class OutcomeUnknown(BridgeError):
    code = "outcome_unknown"
    status = 409


class NoMachine(BridgeError):
    code = "no_machine"
    status = 503


class SandboxUnavailable(NoMachine):
    code = "no_walls"


class ApplicationMissing(NoMachine):
    code = "application_missing"


class PodImageUnavailable(NoMachine):
    code = "pod_image_unavailable"


class ClusterFull(NoMachine):
    code = "cluster_full"


class ClusterUnavailable(NoMachine):
    code = "cluster_unavailable"


class UnknownClaim(BridgeError):
    code = "unknown_claim"
    status = 404


class UnknownHost(BridgeError):
    code = "unknown_host"
    status = 404


class UnknownTask(BridgeError):
    code = "unknown_task"
    status = 404


class UnsupportedTask(BridgeError):
    code = "unsupported_task"
    status = 422


class VerifierFailed(BridgeError):
    code = "verifier_failed"


class UnknownBlob(BridgeError):
    code = "unknown_blob"
    status = 404


class UnknownRecording(BridgeError):
    code = "unknown_recording"
    status = 404


class InvalidOffer(BridgeError):
    code = "invalid_offer"
    status = 422


class TicketRefused(BridgeError):
    code = "ticket_refused"
    status = 403


class BridgeUnavailable(BridgeError):
    code = "bridge_unavailable"
    status = 503


class ActionFailed(Exception):
    """Within a driver: the machine could not do an action, which becomes the transition's error.

    Effects before the failure remain.

    Args:
        code: Stable; callers may depend on it.
        message: Message for people.
        text: Output before the failure.
    """

    def __init__(self, code: str, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.code, self.text = code, text


ERRORS: dict[str, type[BridgeError]] = {
    cls.code: cls
    for cls in (
        BridgeError,
        MachineGone,
        StaleLease,
        UnsupportedAction,
        InvalidAction,
        CannotRestore,
        CommandConflict,
        OutcomeUnknown,
        NoMachine,
        SandboxUnavailable,
        ApplicationMissing,
        PodImageUnavailable,
        ClusterFull,
        ClusterUnavailable,
        UnknownClaim,
        UnknownHost,
        UnknownTask,
        UnsupportedTask,
        VerifierFailed,
        UnknownBlob,
        UnknownRecording,
        InvalidOffer,
        TicketRefused,
        BridgeUnavailable,
    )
}
"""Every error by its code, so that the client raises the server's error."""
