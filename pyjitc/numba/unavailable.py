"""Names of Numba's modules without a counterpart here, listed by the module of this package in which a program looks
for them. They can be imported as placeholders (absent.py)."""
from __future__ import annotations

__all__ = ["NAMES"]

NAMES = {
    "core.decorators": """
        DeprecationError NumbaDeprecationWarning sigutils stencil
    """,
    "core.dispatcher": """
        CompilingCounter FunctionCache NullCache Purpose compiler default_type_manager entrypoints ev
        fold_arguments get_code_object global_compiler_lock serialize sigutils
    """,
    "core.errors": """
        NOPColorScheme constant_inference_info error_extras feedback_details
        interpreter_error_info loc_info new_error_context pedantic_warning_info reportable_issue_info
        termcolor typing_error_info unsupported_error_info
    """,
    "core.registry": """
        TargetDescriptor cpu
    """,
    "experimental": """
        ClassAttribute ClassBuilder ConstructorTemplate InstanceDataModel InstanceModel boxing cgutils
        cpu_target ctor_impl decorators default_manager disable_pickling get_attr_impl imp_dtor imputils
        models njit overloads register_class_type set_attr_impl templates
    """,
    "np.numpy_support": """
        FROM_DTYPE TypingError combine_datetime_timedelta_units is_contiguous is_fortran lt_complex
        lt_floats npy_types re_datetimestr re_typestr signature supported_ufunc_loop
    """,
    "np.ufunc": """
        DelayedRegistry ParallelGUFuncBuilder ParallelUFuncBuilder decorators sigparse ufunc_base
        ufuncbuilder wrappers
    """,
    "typed": """
        DEFAULT_ALLOCATED DictType Dispatcher Int_or_Slice ListType LoweringError NativeValue Signature T
        T_co T_or_ListT TypingError box box_dicttype box_lsttype cgutils impl_numba_typeref_ctor njit
        numba_typeref_ctor overload overload_classmethod signature type_callable typeddict_call
        typeddict_empty typedlist_call typedlist_empty unbox unbox_dicttype unbox_listtype
    """,
    "special": """
        BitGenerator Purpose numpy_support typeof_numpy_polynomial typeof_numpy_random_bitgen
        typeof_random_generator
    """,
}
