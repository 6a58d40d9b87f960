"""Predicted cycles of a plan, with a lower bound for its contract."""

from collc.cost.expectations import unmet_expectations
from collc.cost.predict import (
    cycles_of,
    cycles_or_never,
    predict,
    predict_by_itself,
    predict_program,
)
from collc.cost.show import show_gap, show_note, show_prediction
