# The names by which programs refer to types, as attributes of the package (api/signature.py makes them).
NAMES_OF_TYPES = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 boolean bool_ int_ "
    "uint intc uintc intp uintp float_ double byte char short ushort void none i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 "
    "b1 Tuple UniTuple optional").split()
