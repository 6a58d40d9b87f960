"""Random texts that the grammar takes: expansions drawn from its own rules, words with random
space, line breaks and comments between them. Nothing of the formatter is known here."""

from __future__ import annotations

import random

from lark import Lark
from lark.grammar import NonTerminal, Rule

from collc.language.parser import make_parser

_DEEP = 7
_SAMPLES = {
    "NAME": ("a", "n", "row", "x1", "two_phase", "S", "colors", "leaf", "_q"),
    "INTEGER": ("0", "1", "12", "4096"),
    "FRACTION": ("0.5", "1e-3", "2.25"),
    "RELATION": ("<", ">", ">=", "==", "!="),
    "ARROW": ("=>", "->"),
}
_NOT_DRAWN = {"STRAY", "COMMENT", "BLANK"}


class GrammarTexts:
    """Texts drawn with a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lark: Lark = make_parser()
        self._rules: dict[str, list[Rule]] = {}
        for rule in self._lark.rules:
            self._rules.setdefault(rule.origin.name, []).append(rule)
        self._costs = self._least_costs()

    def text(self) -> str:
        """One to five declarations, and what is between their words."""
        words: list[str] = []
        for _ in range(self._random.randint(1, 5)):
            words += self._expand("start", 0)
        return "".join(self._between(at) + word for at, word in enumerate(words)) + self._between(0)

    def _between(self, at: int) -> str:
        kinds = [
            "",
            "\n",
            "\n\n\n  ",
            " // a remark\n",
            "\n// above, é\n",
            "\n\n// apart\n\n",
            "\t",
        ]
        drawn = self._random.choices(kinds, [60, 9, 2, 2, 2, 1, 3])[0]
        return (" " if at else "") + drawn + (" " if at else "")

    def _expand(self, name: str, depth: int) -> list[str]:
        rules = self._rules[name]
        if depth > _DEEP:
            least = min(map(self._cost, rules))
            rules = [rule for rule in rules if self._cost(rule) == least]
        words: list[str] = []
        for symbol in self._random.choice(rules).expansion:
            if isinstance(symbol, NonTerminal):
                words += self._expand(symbol.name, depth + 1)
            else:
                words.append(self._word(symbol.name))
        return words

    def _word(self, terminal: str) -> str:
        if terminal in _SAMPLES:
            return self._random.choice(_SAMPLES[terminal])
        return str(self._lark.get_terminal(terminal).pattern.value)

    def _cost(self, rule: Rule) -> float:
        if any(symbol.name in _NOT_DRAWN for symbol in rule.expansion):
            return float("inf")
        inner = (self._costs[s.name] for s in rule.expansion if isinstance(s, NonTerminal))
        return 1 + max(inner, default=0.0)

    def _least_costs(self) -> dict[str, float]:
        """How deep the shallowest text of each rule is."""
        self._costs = dict.fromkeys(self._rules, float("inf"))
        while True:
            costs = {name: min(map(self._cost, rules)) for name, rules in self._rules.items()}
            if costs == self._costs:
                return costs
            self._costs = costs
