# SPDX-License-Identifier: BSD-2-Clause
"""Small mutants of C source, by rule: each changes one token, one condition or one statement."""
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<space>\s)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|\+\+|--|->|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

RELATIONAL = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGICAL = {"&&": "||", "||": "&&"}
SHIFT = {"<<": ">>", ">>": "<<", "<<=": ">>=", ">>=": "<<="}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
BITWISE = {"&": "|", "|": "&", "|=": "&=", "&=": "|=", "^": "|", "^=": "|="}
BOOLEAN = {"true": "false", "false": "true"}
CONDITIONS = ("if", "while")
BLOCKS = ("if", "while", "for", "switch")
# Statements that begin with one of these are no expressions.
KEYWORDS = {"return", "goto", "if", "for", "while", "do", "switch", "case", "default", "else",
            "typedef", "static", "const", "struct", "union", "enum", "extern", "sizeof",
            "_Static_assert", "unsigned", "signed", "volatile", "register"}


class Token:
    """One token that counts: not space, comment or directive."""
    __slots__ = ("kind", "text", "start", "end", "where", "pair")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.where = "file"  # file, code, table or type: what the braces around it are
        self.pair = None     # of a bracket: the index of its other half


class Mutant:
    """One change: source[start:end] becomes `text`."""

    def __init__(self, path, source, rule, start, end, text):
        self.path, self.rule, self.start, self.end, self.text = path, rule, start, end, text
        self.line = source.count("\n", 0, start) + 1
        first = source.rfind("\n", 0, start) + 1
        last = source.find("\n", end)
        last = len(source) if last < 0 else last
        self.old = " ".join(source[first:last].split())
        self.new = " ".join((source[first:start] + text + source[end:last]).split())
        self.id = ""

    def key(self):
        """What stays when other lines of the file come and go."""
        return (self.path, self.rule, self.old, self.new)

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]

    def show(self):
        return (f"{self.path}:{self.line}: {self.rule} [{self.id}]\n"
                f"  - {self.old}\n  + {self.new}")


def number(*words):
    """A number that the words decide: the same in every run."""
    return int(hashlib.sha256("\0".join(map(str, words)).encode()).hexdigest()[:12], 16)


def tokens_of(source):
    """The tokens that count, with what the braces around each of them are."""
    found = [Token(match.lastgroup, match.group(), match.start())
             for match in TOKEN.finditer(source)
             if match.lastgroup not in ("space", "comment", "directive")]
    opened = []
    where = ["file"]
    for i, token in enumerate(found):
        token.where = where[-1]
        if token.text in ("(", "[", "{"):
            if token.text == "{":
                where.append(kind_of_block(found, i))
            opened.append(i)
        elif token.text in (")", "]", "}") and opened:
            token.pair = opened.pop()
            found[token.pair].pair = i
            if token.text == "}":
                where.pop()
                token.where = where[-1]
    return found


def kind_of_block(found, at):
    before = found[at - 1] if at else None
    if before is None:
        return "file"
    if before.text in ("=", ",", "{") and found[at].where in ("table", "code", "file"):
        return "table" if before.text == "=" or found[at].where == "table" else "code"
    if before.text == ")" and before.pair is not None:
        ahead = found[before.pair - 1]
        if found[at].where == "file":
            return "code"
        return "code" if ahead.text in BLOCKS else "table"  # (struct x){ ... }
    if before.text in ("else", "do", ";", "{", "}", ":", "]"):
        return "table" if found[at].where == "table" else "code"
    return "type"  # struct x {


def is_binary(found, at):
    before = found[at - 1]
    if before.kind == "word":
        return before.text not in ("return", "case", "sizeof")
    if before.text == ")" and before.pair is not None:
        # After a cast the operator has one operand: (uint8_t)-1, (int)*p.
        inside = found[before.pair + 1:at - 1]
        is_cast = all(t.kind == "word" or t.text == "*" for t in inside) and (
            inside and (inside[-1].text == "*" or inside[-1].text.endswith("_t") or
                        inside[0].text in ("struct", "unsigned", "int", "char", "void", "const")))
        return not is_cast
    return before.kind == "number" or before.text == "]"


def operators(found, table, rule):
    for i, token in enumerate(found):
        if token.kind != "op" or token.text not in table or token.where in ("type", "file") or i == 0:
            continue
        if token.text in ("+", "-", "&", "|", "^", "<", ">") and not is_binary(found, i):
            continue
        yield rule, token.start, token.end, table[token.text]


def negated(found, source):
    for i, token in enumerate(found):
        if token.text in CONDITIONS and i + 1 < len(found) and found[i + 1].text == "(":
            first, last = found[i + 1], found[found[i + 1].pair]
            yield "negate", first.end, last.start, f"!({source[first.end:last.start]})"


def is_declared_size(found, at):
    """An array's length in its declaration: uint8_t x[16]."""
    if found[at - 1].text != "[" or found[at + 1].text != "]" or at < 3:
        return False
    return found[at - 2].kind == "word" and (found[at - 3].kind == "word" or
                                             found[at - 3].text in ("*", ","))


def constants(found, source, path):
    for i, token in enumerate(found):
        if token.kind != "number" or token.where in ("type", "file") or "." in token.text:
            continue
        if is_declared_size(found, i):
            continue
        digits = re.match(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)$", token.text)
        if not digits:
            continue
        is_octal = digits.group(1).startswith("0") and digits.group(1).isdigit()
        value, suffix = int(digits.group(1), 8 if is_octal else 0), digits.group(2)
        # Decided by the line and not by its place, which moves.
        chance = number(path, source[source.rfind("\n", 0, token.start) + 1:token.end])
        if token.text.startswith(("0x", "0X")) and value:
            flipped = value ^ (1 << chance % value.bit_length())
            yield "mask", token.start, token.end, f"0x{flipped:x}{suffix}"
        else:
            step = 1 if value == 0 or chance % 2 else -1
            yield "constant", token.start, token.end, f"{value + step}{suffix}"


def statement_end(found, at):
    while at < len(found) and found[at].text != ";":
        if found[at].text in ("(", "[", "{"):
            at = found[at].pair
        elif found[at].text == "}":
            return None
        at += 1
    return at if at < len(found) else None


def is_statement_start(found, at):
    before = found[at - 1]
    if before.text in (";", "{", "}", "else"):
        return True
    return (before.text == ")" and before.pair is not None and
            found[before.pair - 1].text in ("if", "while", "for"))


def is_expression(found, at, end):
    first, second = found[at], found[at + 1]
    if first.text in ("break", "continue") and second.text == ";":
        return True
    if first.text == "return" and second.text == ";":
        return True
    if first.text in KEYWORDS or first.kind not in ("word", "op") or first.text == ";":
        return False
    if first.text in ("(", "{", "}"):
        return False
    if first.kind == "word" and (second.kind == "word" or second.text == ":"):
        return False
    if second.text == "*" and found[at + 2].kind == "word" and found[at + 3].text in ("=", ";", ","):
        return False
    return any(t.text in ("(", "=", "++", "--") or t.text.endswith("=") for t in found[at:end])


def deletions(found):
    for i in range(1, len(found) - 1):
        if found[i].where != "code" or not is_statement_start(found, i):
            continue
        end = statement_end(found, i)
        if end is not None and is_expression(found, i, end):
            yield "delete", found[i].start, found[end].start, ""


def elements(found, opening):
    """The elements of a braced list: pairs of first and last token."""
    at = opening + 1
    last = found[opening].pair
    first = at
    while at <= last:
        if at == last or found[at].text == ",":
            if first < at:
                yield first, at - 1
            first = at + 1
        elif found[at].text in ("(", "[", "{"):
            at = found[at].pair
        at += 1


def value_of(found, first, last):
    """The span of an element's value when it is one simple thing; None for others."""
    if found[first].text == "[" and found[first].pair + 1 < last and \
            found[found[first].pair + 1].text == "=":
        first = found[first].pair + 2
    return (first, last) if first == last and found[first].kind != "op" else None


def swaps(found, source):
    for i, token in enumerate(found):
        if token.text != "{" or token.pair is None or found[i + 1].where != "table":
            continue
        values = [value_of(found, *span) for span in elements(found, i)]
        for one, two in zip(values, values[1:]):
            if not one or not two or found[one[0]].text == found[two[0]].text:
                continue
            a, b = found[one[0]], found[two[0]]
            yield "swap", a.start, b.end, b.text + source[a.end:b.start] + a.text


def booleans(found):
    for token in found:
        if token.text in BOOLEAN and token.where in ("code", "table"):
            yield "boolean", token.start, token.end, BOOLEAN[token.text]


def mutants_of(path, source):
    """All mutants of a file, in the order of its text."""
    found = tokens_of(source)
    changes = []
    for table, rule in ((RELATIONAL, "relational"), (LOGICAL, "logical"), (SHIFT, "shift"),
                        (ARITHMETIC, "arithmetic"), (BITWISE, "bitwise")):
        changes += operators(found, table, rule)
    changes += negated(found, source)
    changes += constants(found, source, path)
    changes += deletions(found)
    changes += swaps(found, source)
    changes += booleans(found)
    made = [Mutant(path, source, *change) for change in sorted(set(changes), key=lambda c: c[1:])]
    seen = {}
    for mutant in made:
        # Lines that are alike are told apart by their order.
        nth = seen[mutant.key()] = seen.get(mutant.key(), -1) + 1
        mutant.id = f"{number(*mutant.key(), nth):012x}"[:8]
    return made
