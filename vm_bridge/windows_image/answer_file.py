"""Windows' answer file, by which its setup asks nothing.

https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/
"""

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from vm_bridge.windows_image.settings import MEDIUM_FOLDER, SETUP_SCRIPT, USER, ImageSettings

NAMESPACE = "urn:schemas-microsoft-com:unattend"
ACTIONS = "http://schemas.microsoft.com/WMIConfig/2002/State"
COMPONENT = {
    "processorArchitecture": "amd64",
    "publicKeyToken": "31bf3856ad364e35",
    "language": "neutral",
    "versionScope": "nonSxS",
}
BYPASSED_CHECKS = ("TPM", "SecureBoot", "RAM", "CPU", "Storage")
"""Requirements of Windows 11 that a virtual machine need not meet."""
POLICIES = r"HKLM\SOFTWARE\Policies\Microsoft"
CURRENT_VERSION = r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion"
MACHINE_VALUES: tuple[tuple[str, str, int], ...] = (
    (rf"{CURRENT_VERSION}\OOBE", "BypassNRO", 1),
    (rf"{CURRENT_VERSION}\Policies\System", "ConsentPromptBehaviorAdmin", 0),
    (rf"{CURRENT_VERSION}\Policies\System", "PromptOnSecureDesktop", 0),
    (rf"{CURRENT_VERSION}\Policies\System", "EnableFirstLogonAnimation", 0),
    (rf"{POLICIES}\Windows\WindowsUpdate\AU", "NoAutoUpdate", 1),
    (rf"{POLICIES}\Windows\Personalization", "NoLockScreen", 1),
    (rf"{POLICIES}\Windows\CloudContent", "DisableWindowsConsumerFeatures", 1),
    (rf"{POLICIES}\Windows\Windows Error Reporting", "Disabled", 1),
    (rf"{POLICIES}\Windows\OOBE", "DisablePrivacyExperience", 1),
    (rf"{POLICIES}\Windows\Explorer", "DisableNotificationCenter", 1),
    (rf"{POLICIES}\Edge", "HideFirstRunExperience", 1),
    (r"HKLM\SYSTEM\CurrentControlSet\Control\BitLocker", "PreventDeviceEncryption", 1),
    (r"HKLM\SYSTEM\CurrentControlSet\Control\Network\NewNetworkWindowOff", "Off", 1),
)
"""What would ask, restart, lock or cover the screen."""
DRIVE_LETTERS = "DEFGHIJ"
LOGON_COUNT = "9999999"
"""Windows counts it down at each sign-in."""


def answer_file(settings: ImageSettings) -> bytes:
    """The file `autounattend.xml` for a BIOS machine with one empty disk."""
    ET.register_namespace("", NAMESPACE)
    ET.register_namespace("wcm", ACTIONS)
    root = ET.Element(_name("unattend"))
    _add_windows_pe(_pass(root, "windowsPE"), settings)
    _add_specialize(_pass(root, "specialize"))
    _add_oobe_system(_pass(root, "oobeSystem"), settings)
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def first_logon_command() -> str:
    """Finds the medium with our files, whatever its letter, and runs the script there."""
    script = rf"%d:\{MEDIUM_FOLDER}\{SETUP_SCRIPT}"
    return f"cmd.exe /c for %d in ({' '.join(DRIVE_LETTERS)}) do @if exist {script} call {script}"


def _add_windows_pe(settings_pass: ET.Element, settings: ImageSettings) -> None:
    language = _component(settings_pass, "Microsoft-Windows-International-Core-WinPE")
    _add(language, "SetupUILanguage", {"UILanguage": settings.language})
    _add_languages(language, settings)
    setup = _component(settings_pass, "Microsoft-Windows-Setup")
    checks = (_registry_command(r"HKLM\SYSTEM\Setup\LabConfig", f"Bypass{check}Check", 1) for check in BYPASSED_CHECKS)
    _add_commands(setup, "RunSynchronous", "RunSynchronousCommand", "Path", checks)
    disk = _list_item(ET.SubElement(setup, _name("DiskConfiguration")), "Disk")
    _set(disk, {"DiskID": "0", "WillWipeDisk": "true"})
    created = _list_item(ET.SubElement(disk, _name("CreatePartitions")), "CreatePartition")
    _set(created, {"Order": "1", "Type": "Primary", "Extend": "true"})
    modified = _list_item(ET.SubElement(disk, _name("ModifyPartitions")), "ModifyPartition")
    _set(
        modified,
        {"Order": "1", "PartitionID": "1", "Active": "true", "Format": "NTFS", "Label": "Windows", "Letter": "C"},
    )
    image = _add(_add(setup, "ImageInstall"), "OSImage")
    metadata = _list_item(_add(image, "InstallFrom"), "MetaData")
    _set(metadata, {"Key": "/IMAGE/INDEX", "Value": str(settings.edition)})
    _add(image, "InstallTo", {"DiskID": "0", "PartitionID": "1"})
    user = _add(setup, "UserData", {"AcceptEula": "true", "FullName": USER})
    if settings.product_key:
        _add(user, "ProductKey", {"Key": settings.product_key, "WillShowUI": "OnError"})
    _add(setup, "DynamicUpdate", {"Enable": "false", "WillShowUI": "Never"})


def _add_specialize(settings_pass: ET.Element) -> None:
    shell = _component(settings_pass, "Microsoft-Windows-Shell-Setup")
    _set(shell, {"ComputerName": "PILOTHOUSE", "TimeZone": "UTC"})
    deployment = _component(settings_pass, "Microsoft-Windows-Deployment")
    commands = (_registry_command(*value) for value in MACHINE_VALUES)
    _add_commands(deployment, "RunSynchronous", "RunSynchronousCommand", "Path", commands)


def _add_oobe_system(settings_pass: ET.Element, settings: ImageSettings) -> None:
    _add_languages(_component(settings_pass, "Microsoft-Windows-International-Core"), settings)
    shell = _component(settings_pass, "Microsoft-Windows-Shell-Setup")
    password = {"Value": settings.password, "PlainText": "true"}
    logon = _add(shell, "AutoLogon", {"Enabled": "true", "Username": USER, "LogonCount": LOGON_COUNT})
    _add(logon, "Password", password)
    account = _list_item(_add(_add(shell, "UserAccounts"), "LocalAccounts"), "LocalAccount")
    _set(account, {"Name": USER, "Group": "Administrators", "DisplayName": USER})
    _add(account, "Password", password)
    hidden = ("HideEULAPage", "HideOEMRegistrationScreen", "HideOnlineAccountScreens", "HideWirelessSetupInOOBE")
    _add(shell, "OOBE", {**dict.fromkeys(hidden, "true"), "ProtectYourPC": "3"})
    screen = settings.screen
    _add(
        shell,
        "Display",
        {
            "ColorDepth": "32",
            "HorizontalResolution": str(screen.width),
            "VerticalResolution": str(screen.height),
            "RefreshRate": "60",
        },
    )
    _add_commands(shell, "FirstLogonCommands", "SynchronousCommand", "CommandLine", (first_logon_command(),))


def _registry_command(key: str, name: str, value: int) -> str:
    return f'reg.exe add "{key}" /v {name} /t REG_DWORD /d {value} /f'


def _add_languages(component: ET.Element, settings: ImageSettings) -> None:
    language = settings.language
    _set(
        component,
        {
            "InputLocale": settings.keyboard,
            "SystemLocale": language,
            "UILanguage": language,
            "UserLocale": language,
        },
    )


def _add_commands(component: ET.Element, group: str, item: str, field: str, commands: Iterable[str]) -> None:
    parent = _add(component, group)
    for order, command in enumerate(commands, 1):
        _set(_list_item(parent, item), {"Order": str(order), field: command})


def _pass(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, _name("settings"), {"pass": name})


def _component(settings_pass: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(settings_pass, _name("component"), {"name": name, **COMPONENT})


def _list_item(parent: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(parent, _name(name), {f"{{{ACTIONS}}}action": "add"})


def _add(parent: ET.Element, name: str, values: dict[str, str] | None = None) -> ET.Element:
    element = ET.SubElement(parent, _name(name))
    _set(element, values or {})
    return element


def _set(element: ET.Element, values: dict[str, str]) -> None:
    for name, value in values.items():
        ET.SubElement(element, _name(name)).text = value


def _name(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
