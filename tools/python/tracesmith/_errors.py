# SPDX-License-Identifier: Apache-2.0
"""The exceptions. Each message is the line that libtracesmith or tsctl gives."""
from __future__ import annotations


class Error(Exception):
    """Any failure of TraceSmith."""


class NotInstalled(Error, ImportError):
    """libtracesmith or tsctl is not there."""


class TraceError(Error, ValueError):
    """A file is no trace, is damaged, or has no such row type, column or session."""


class CommandError(Error):
    """A question or tsctl failed. `status` is tsctl's exit status; of a question it is 2."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
