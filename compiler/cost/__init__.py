"""Predicted cycles of a plan, with a lower bound for its contract."""

from collc.cost.predict import CriticalPath, Prediction, predict

__all__ = ["CriticalPath", "Prediction", "predict"]
