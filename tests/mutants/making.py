"""The mutants of a file: the text of the file with one small change, made by cosmic-ray's operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator

__all__ = ["Mutant", "mutants_of"]


@dataclass(frozen=True)
class Mutant:
    """One file with one small change.

    Attributes:
        file: The file's name.
        line: The line of the change, from 1.
        where: The function or class that is changed, as far as cosmic-ray names it.
        was: The text that went, of all lines that changed, without their indentation.
        becomes: The text that came in its place.
        code: The whole file, changed.
    """

    file: str
    line: int
    where: str
    was: str
    becomes: str
    code: str

    def __str__(self) -> str:
        return f"{self.where or 'the module'}: {self.was}  ->  {self.becomes}"


class LeaveOutStatement(Operator):
    """Something is forgotten: a statement becomes `pass`. cosmic-ray has no operator that does this."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Every simple statement that does something when the program runs."""
        if node.type == "simple_stmt" and not self._says_nothing(node.children[0]):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The same place with `pass`."""
        nothing = parso.parse("pass\n").children[0]
        nothing.get_first_leaf().prefix = node.get_first_leaf().prefix
        return nothing

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For cosmic-ray's own tests."""
        return (Example("x = 1\n", "pass\n"),)

    @staticmethod
    def _says_nothing(statement: Any) -> bool:
        """Docstrings, imports, `pass`, exports and what is only an annotation."""
        if statement.type in ("string", "strings", "import_name", "import_from"):
            return True
        if statement.type == "expr_stmt" and statement.children[1].type == "annassign":
            return len(statement.children[1].children) == 2
        return statement.get_code().strip().startswith(("pass", "__all__"))


OPERATORS: tuple[Operator, ...] = (
    LeaveOutStatement(),
    *(
        get_operator(f"core/{name}")()
        for name in (
            "AddNot",
            "ReplaceUnaryOperator_Delete_Not",
            "ReplaceUnaryOperator_Delete_USub",
            "ReplaceTrueWithFalse",
            "ReplaceFalseWithTrue",
            "ReplaceAndWithOr",
            "ReplaceOrWithAnd",
            "ReplaceBreakWithContinue",
            "ReplaceContinueWithBreak",
            "ReplaceComparisonOperator_Is_IsNot",
            "ReplaceComparisonOperator_IsNot_Is",
            "ReplaceComparisonOperator_Eq_NotEq",
            "ReplaceComparisonOperator_Eq_LtE",
            "ReplaceComparisonOperator_Eq_GtE",
            "ReplaceComparisonOperator_NotEq_Eq",
            "ReplaceComparisonOperator_NotEq_Lt",
            "ReplaceComparisonOperator_NotEq_Gt",
            "ReplaceComparisonOperator_Lt_LtE",
            "ReplaceComparisonOperator_Lt_GtE",
            "ReplaceComparisonOperator_LtE_Lt",
            "ReplaceComparisonOperator_LtE_Gt",
            "ReplaceComparisonOperator_Gt_GtE",
            "ReplaceComparisonOperator_Gt_LtE",
            "ReplaceComparisonOperator_GtE_Gt",
            "ReplaceComparisonOperator_GtE_Lt",
            "ReplaceBinaryOperator_Add_Sub",
            "ReplaceBinaryOperator_Sub_Add",
            "ExceptionReplacer",
            "NumberReplacer",
            "RemoveDecorator",
            "ZeroIterationForLoop",
        )
    ),
)
"""What is changed. Left out are the operators whose mutants only ever raise (`None < 3`, `a @ b`), which any
test kills and which would flatter the figures, and those that no contract can see (`is` for `==`)."""


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Every mutant of a file that is a program still, in the order of the operators and of the lines.

    Args:
        file: The file's name.
        text: What is in it.
    """
    seen = {text}
    for operator in OPERATORS:
        places = [
            (start[0], ASTQuery(node).get_definition_name() or "")
            for node in ast_nodes(get_ast(text))
            for start, _ in operator.mutation_positions(node)
        ]
        for occurrence, (line, where) in enumerate(places):
            code = mutate_code(text, operator, occurrence)
            if code is not None and code not in seen and _is_program(code):
                seen.add(code)
                yield Mutant(file, line, where, *_change(text, code), code)


def _is_program(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _change(text: str, code: str) -> tuple[str, str]:
    """The lines that went and those that came, each without indentation and on one line."""
    before, after = text.splitlines(), code.splitlines()
    went, came = [], []
    for tag, start, end, place, until in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            went += before[start:end]
            came += after[place:until]
    was, becomes = (" ".join(filter(None, map(str.strip, lines))) for lines in (went, came))
    return was, becomes
