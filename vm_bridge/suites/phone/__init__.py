"""The bundled phone tasks: contacts, messages, shop, clock, notes, calculator, settings."""

from vm_bridge.suites.phone.suite import PhoneSuite

__all__ = ["PhoneSuite"]
