"""Who asks the groups of a plan: this process, or workers on Ray."""

from vqaudit.run.executors.base import Desk, Executor
from vqaudit.run.executors.here import Here
from vqaudit.run.executors.opening import open_executor
from vqaudit.run.executors.spec import ExecutorSpec

__all__ = ["Desk", "Executor", "ExecutorSpec", "Here", "open_executor"]
