"""numba.core.cgutils: functions that code of intrinsics uses besides llvmlite's builder."""
from __future__ import annotations

from contextlib import contextmanager

from llvmlite import ir

from ..absent import module_attribute

__all__ = ["alloca_once", "alloca_once_value", "bool_t", "false_bit", "get_item_pointer", "get_item_pointer2",
           "get_or_insert_function", "if_likely", "if_unlikely", "int8_t", "int32_t", "intp_t", "is_not_null",
           "is_null", "is_scalar_zero", "is_scalar_neg", "true_bit", "unpack_tuple", "void_t", "voidptr_t"]

bool_t, int8_t, int32_t, intp_t, void_t = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.VoidType()
voidptr_t = int8_t.as_pointer()
true_bit, false_bit = bool_t(1), bool_t(0)


def get_or_insert_function(module, fnty, name):
    """The function of this name in the module, which is declared if it does not exist."""
    found = module.globals.get(name)
    return ir.Function(module, fnty, name) if found is None else found


insert_pure_function = get_or_insert_function


def alloca_once(builder, ty, size=None, name="", zfill=False):
    """Allocate memory in the frame of the function."""
    with builder.goto_entry_block():
        found = builder.alloca(ty, size=size, name=name)
        if zfill:
            builder.store(ir.Constant(ty, None), found)
    return found


def alloca_once_value(builder, value, name="", zfill=False):
    """Allocate memory in the frame of the function, and store a value there."""
    found = alloca_once(builder, value.type, name=name)
    builder.store(value, found)
    return found


def unpack_tuple(builder, tup, count=None) -> list:
    """The lengths or strides of an array."""
    return list(tup)


def get_item_pointer(context, builder, aryty, ary, inds, wraparound=False, boundscheck=False):
    """The address of an element of an array. Indices are not checked."""
    return get_item_pointer2(context, builder, ary.data, ary.shape, ary.strides, aryty.layout, inds, wraparound)


def get_item_pointer2(context, builder, data, shape, strides, layout, inds, wraparound=False, boundscheck=False):
    """The address of an element of an array at `data`."""
    address = builder.ptrtoint(data, intp_t)
    for i, length, stride in zip(inds, shape, strides):
        if wraparound:
            i = builder.select(builder.icmp_signed("<", i, intp_t(0)), builder.add(i, length), i)
        address = builder.add(address, builder.mul(i, stride))
    return builder.inttoptr(address, data.type)


def is_null(builder, value):
    return builder.icmp_unsigned("==", value, value.type(None))


def is_not_null(builder, value):
    return builder.icmp_unsigned("!=", value, value.type(None))


def is_scalar_zero(builder, value):
    zero = ir.Constant(value.type, 0)
    return builder.icmp_unsigned("==", value, zero) if isinstance(value.type, ir.IntType) else builder.fcmp_ordered(
        "==", value, zero)


def is_scalar_neg(builder, value):
    return builder.icmp_signed("<", value, ir.Constant(value.type, 0))


@contextmanager
def if_likely(builder, pred):
    with builder.if_then(pred, likely=True):
        yield


@contextmanager
def if_unlikely(builder, pred):
    with builder.if_then(pred, likely=False):
        yield


__getattr__ = module_attribute("core.cgutils")
