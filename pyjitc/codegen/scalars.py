"""The helper that reads floats and bools of Python, and NumPy's numbers, for parameters that are declared with another
type (wrapper.py)."""
from __future__ import annotations

from ..runtime.platform import FLOAT_VALUE, NUMPY_API, OB_TYPE, SCALAR_VALUE

__all__ = ["TEXT", "SIGNED", "NATURAL", "REAL"]

SIGNED, NATURAL, REAL = 1, 2, 3  # what is written: an int64, a uint64 or a double
# (the class in NumPy's C API, the type of its values in memory, how they are made wide); the most frequent ones first
_CLASSES = (
    ("Long", "i64", ""), ("Double", "double", ""), ("Int", "i32", "sext"), ("Float", "float", "fpext"),
    ("ULong", "u64", ""), ("UInt", "i32", "zext"), ("Bool", "i8", "zext"), ("UByte", "i8", "zext"),
    ("Byte", "i8", "sext"), ("Short", "i16", "sext"), ("UShort", "i16", "zext"), ("LongLong", "i64", ""),
    ("ULongLong", "u64", ""))


def _tests() -> str:
    """For each class, the code that reads a number of it."""
    lines = []
    for name, kind, wide in _CLASSES:
        symbol, stored = f"@pyjitc_numpy_api_{NUMPY_API[name]}", "i64" if kind == "u64" else kind
        real = stored in ("float", "double")
        whole = "double" if real else "i64"
        value = f"(load {stored}, ptr %where, align 1)"
        code = REAL if real else NATURAL if kind == "u64" or wide == "zext" else SIGNED
        lines.append(f"""  br i1 (icmp eq ptr %class, {symbol}), label %{name}, label %not.{name}
{name}:
  store {whole} {f"({wide} {stored} {value} to {whole})" if wide else value}, ptr %found, align 8
  ret i64 {code}
not.{name}:""")
    return "\n".join(lines)


TEXT = {
    "pyj_scalar_read": f"""
define internal i64 @pyj_scalar_read(ptr %x, ptr %found) nounwind noinline {{
start:
  %class = load ptr, ptr (getelementptr i8, ptr %x, i64 {OB_TYPE}), align 8
  %where = getelementptr i8, ptr %x, i64 {SCALAR_VALUE}
  br i1 (icmp eq ptr %class, @PyFloat_Type), label %float, label %not.float
float:
  store double (load double, ptr (getelementptr i8, ptr %x, i64 {FLOAT_VALUE}), align 8), ptr %found, align 8
  ret i64 {REAL}
not.float:
{_tests()}
  br i1 (icmp eq ptr %class, @PyBool_Type), label %bool, label %other
bool:
  store i64 (zext i1 (icmp eq ptr %x, @_Py_TrueStruct) to i64), ptr %found, align 8
  ret i64 {NATURAL}
other:
  ret i64 0
}}""",
}
