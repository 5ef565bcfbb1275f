"""Loops, jumps, conditions, short circuits, walrus, assert, del.

PYTEST_DONT_REWRITE: the asserts in the functions have to be compiled unchanged."""
import numpy as np

from tests.language.corpus import check, corpus, each

case, CASES = corpus()


# Loops

@case((0,), (1,), (10,))
def while_counts(n):
    i = total = 0
    while i < n:
        total += i
        i += 1
    return total, i


@case((0,), (3,), (10,))
def while_else(n):
    i = 0
    while i < n:
        if i == 5:
            break
        i += 1
    else:
        return "ran out", i
    return "broke", i


@case((7,), (0,))
def while_continue(n):
    odd = 0
    while n > 0:
        n -= 1
        if n % 2 == 0:
            continue
        odd += n
    return odd


@case((5,), (20,))
def while_true_break(n):
    k = 1
    while True:
        k *= 2
        if k > n:
            break
    return k


@case((5,), (20,))
def while_one_return(n):
    k = 1
    while 1:
        k *= 3
        if k > n:
            return k


@case((0,), (4,))
def while_never(n):
    while False:
        n += 100
    return n


@case((0,), (5,), (-5,))
def for_range(n):
    total = 0
    for i in range(n):
        total += i
    return total


@case((10, 0, -3), (0, 10, 4), (3, 3, 1), (1, 2, 0))
def for_range_three(a, b, c):
    out = 0
    for i in range(a, b, c):
        out = out * 100 + i
    return out


@case((0,), (6,))
def for_else(n):
    for i in range(n):
        if i * i == 16:
            break
    else:
        return -1
    return i


@case((0,), (3,))
def variable_after_loop(n):
    i = -1
    for i in range(n):
        pass
    return i


@case((0,), (3,))
def unbound_after_loop(n):
    for i in range(n):
        pass
    return i


@case((4, 5), (0, 3), (6, 1))
def nested_break_continue_else(n, m):
    out = 0
    for i in range(n):
        for j in range(m):
            if j == i:
                continue
            if i + j == 6:
                break
            out += i * 10 + j
        else:
            out += 1000
            continue
        out += 100000
    else:
        out = -out
    return out


@case((5, 3), (5, 99))
def nested_early_return(n, wanted):
    for i in range(n):
        for j in range(n):
            k = 0
            while k < 3:
                if i * j + k == wanted:
                    return i, j, k
                k += 1
    return None


@case((3,), (0,))
def three_deep(n):
    count = 0
    for i in range(n):
        for j in range(i, n):
            for k in range(j, n):
                if (i + j + k) % 2:
                    continue
                count += 1
    return count


@case((10,), (1,))
def loop_changes_its_variable(n):
    seen = 0
    for i in range(n):
        seen += i
        i = 100
        seen += i
    return seen


@case((27,), (1,))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case((48, 18), (7, 0), (0, 0))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@case((np.arange(6.0),), (np.ones(1),))
def for_array(a):
    total = 0.0
    for x in a:
        if x == 4.0:
            break
        total += x
    return total


@case((np.arange(6.0).reshape(2, 3),))
def for_rows(a):
    total = 0.0
    for row in a:
        for x in row:
            total = total * 2.0 + x
    return total


@case((3,))
def range_is_made_once(n):
    out = 0
    for i in range(n):
        n = 100
        out += i
    return out, n


@case((5,))
def loop_over_two_names(n):
    a = b = c = 0
    for a, (b, c) in ((1, (2, 3)), (4, (5, 6))):
        n += a * b * c
    return n, a, b, c


@case((4,))
def swap_in_loop(n):
    a, b, c = 1, 2, 3
    for _ in range(n):
        a, b, c = c, a, b
    return a, b, c


@case((1,), (0,))
def else_of_while_with_break_inside_try(n):
    k = 0
    while k < 3:
        k += 1
        try:
            if k == 2 and n:
                break
        finally:
            k += 10
    else:
        return "else", k
    return "break", k


# Conditions

@case((5,), (-5,), (0,), (2.5,))
def if_elif_else(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@case((1, 2, 3), (3, 2, 1), (1, 1, 1))
def chained(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, a != b != c, a < b > c, not a < b < c


@case((0,), (5,), (10,))
def chained_evaluates_once(n):
    count = 0

    def middle():
        nonlocal count
        count += 1
        return n

    return 1 < middle() < 7, count


@case((1.0, 2.0), (float("nan"), 1.0))
def chained_floats(x, y):
    if 0.0 < x < y < 5.0:
        return True
    return not x <= y


@case((0, 2.5), (3, 2.5), (0, 0.0), (3, 0.0))
def and_or_of_unlike_types(x, y):
    return x and y, x or y, y and x, y or x


@case((0,), (4,))
def or_default(x):
    return x or None


@case((0,), (4,))
def and_none(x):
    return x and None


@case((0,), (4,))
def or_string(x):
    return x or "nothing"


@case((0, 0, 0), (1, 0, 2), (1, 2, 3), (0, 5, 0))
def long_circuit(a, b, c):
    return (a and b and c, a or b or c, a and b or c, a or b and c, not (a and not b) or c)


@case((0,), (1,), (2,))
def circuit_skips(x):
    calls = 0

    def touch(v):
        nonlocal calls
        calls += 1
        return v

    r = touch(x) and touch(x - 1) or touch(7)
    return r, calls


@case((0, 1), (2, 0), (2, 4))
def circuit_guards_division(a, b):
    return b != 0 and a / b > 0.4


@case((0,), (1,), (3,))
def circuit_in_while(n):
    i = 0
    while i < 10 and (i < n or i % 2 == 0):
        i += 1
    return i


@case((True, False), (False, False), (True, True))
def bool_operators(a, b):
    return a and b, a or b, not a, a & b, a | b, a ^ b, a is b, a is not b


@case((3,), (-3,))
def conditional_expression(x):
    return "plus" if x > 0 else "minus"


@case((3,), (-3,), (0,))
def conditional_nested(x):
    return 1 if x > 0 else -1 if x < 0 else 0.0


@case((3,), (-3,))
def conditional_of_unlike_types(x):
    y = x if x > 0 else 0.5
    return y * 2, y


@case((3,), (-3,))
def conditional_none(x):
    return x if x > 0 else None


@case((0,), (1,))
def not_not(x):
    return not not x, not x


@case((5,), (15,))
def constant_condition(x):
    if True and x > 10:
        return 1
    if False:
        return undefined_name  # noqa: F821
    return 2


@case((0,), (0.0,), (-0.0,), (float("nan"),), (1,), (True,), (np.float32(0),), (np.int8(3),), (None,), ((),), ((0,),))
def truth_of(x):
    if x:
        return True
    return False


# Walrus

@case((10,), (3,))
def walrus_in_if(n):
    if (m := n * 2) > 10:
        return m
    return -m


@case((100,), (1,))
def walrus_in_while(n):
    steps = 0
    while (n := n // 2) > 0:
        steps += n
    return steps, n


@case((5,))
def walrus_in_call(n):
    return max(y := n + 1, 3) + y


@case((5,), (0,))
def walrus_in_circuit(n):
    return (a := n) and (b := a + 1) and (a, b)


@case((5,), (1,))
def walrus_maybe_unbound(n):
    if n > 3 and (b := n):
        pass
    return b


@case((7,))
def walrus_in_tuple(n):
    return (a := n, b := a * 2, a + b)


# assert, del

@case((1,), (0,), (-1,))
def asserts(x):
    assert x
    assert x > 0, "not positive"
    return x


@case((1,), (-1,))
def assert_message(x):
    assert x > 0, "not positive"
    return x


@case((1,), (-1,))
def assert_with_value(x):
    assert x > 0, x * 2
    return x


@case((1,), (-1,))
def assert_with_tuple(x):
    assert x > 0, (x, "is negative")
    return x


@case((1,), (-1,))
def assert_with_f_string(x):
    assert x > 0, f"{x} is negative"
    return x


@case((1,))
def delete_then_use(x):
    del x
    return x


@case((1,), (0,))
def delete_maybe(x):
    y = 5
    if x:
        del y
    return y


@case((1,))
def delete_and_rebind(x):
    y = x
    del y
    y = x + 1.5
    return y


@case((3,))
def delete_in_loop(n):
    total = 0
    for i in range(n):
        t = i * 2
        total += t
        del t
    return total


@case((3,))
def delete_twice(n):
    t = n
    del t
    del t
    return n


@case((2,), (0,))
def unbound_in_branch(x):
    if x:
        y = x
    return y + 1


@case((3,))
def delete_several(n):
    a, b, c = 1, 2, n
    del a, b
    return c


# Assignments

@case((5,), (2.5,))
def augmented_local(x):
    x += 2
    x -= 1
    x *= 3
    x /= 2
    x //= 2
    x %= 5
    x **= 2
    return x


@case((5,))
def augmented_bits(x):
    x <<= 3
    x |= 7
    x &= 0b101110
    x ^= 1
    x >>= 1
    return x


@case((np.arange(4), 1), (np.arange(4), 9))
def augmented_item(a, i):
    a[i] += 10
    a[-1] -= 1
    a[0] *= 5
    a[i] //= 2
    return a[i]


@case((np.arange(6.0).reshape(2, 3),))
def augmented_item_2d(a):
    a[1, 2] += 0.5
    a[0][1] *= 3.0
    a[1][0] **= 2.0
    return a.sum if False else a[1, 2]


@case((np.arange(4),))
def augmented_evaluates_once(a):
    count = 0

    def index():
        nonlocal count
        count += 1
        return count

    a[index()] += 10
    return count


@case((3,))
def augmented_tuple(n):
    t = (1, 2)
    t += (n,)
    t *= 2
    return t


@case((5,))
def augmented_nonlocal(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        total *= 2

    add(n)
    add(1)
    return total


@case((1, 2))
def chained_assignment(a, b):
    x = y = z = a + b
    x += 1
    return x, y, z


@case(((1, 2, 3, 4),), ((1, 2),))
def star_unpack_middle(t):
    a, *b, c = t
    return a, tuple(b), c, len(b)


@case(((1, 2.5, 3),), ((1,),))
def star_unpack_end(t):
    a, *rest = t
    return a, tuple(rest)


@case(((1, 2.5, 3),))
def star_unpack_front(t):
    *rest, a = t
    return a, tuple(rest)


@case(((1, (2, (3, 4)), 5),))
def nested_unpack(t):
    a, (b, (c, d)), e = t
    return a + b + c + d + e


@case((np.arange(3),))
def unpack_array(a):
    x, y, z = a
    return x + 10 * y + 100 * z


@case((3,), (2,), (4,))
def unpack_range(n):
    a, b, c = range(n)
    return a, b, c


@case(((1, 2),))
def unpack_wrong_count(t):
    a, b, c = t
    return a


@case(((1, 2, 3, 4),))
def unpack_too_many(t):
    a, b, c = t
    return a


@case((1, 2))
def swap(a, b):
    a, b = b, a
    return a, b


@case((np.arange(4), 1))
def assign_to_items(a, i):
    a[i], a[i + 1] = a[i + 1], a[i]
    i, a[i] = 0, 99
    return i


@case((np.arange(4.0),))
def unpack_into_items(a):
    (a[0], a[1]), *_ = (5.0, 6.0), 1, 2
    return a[0] + a[1]


@case((2,))
def annotated(n):
    x: int = n
    y: "anything"  # noqa: F821, F842
    x += 1
    return x


@case()
def passes():
    pass


@case((3,))
def many_locals(n):
    a = b = c = d = e = f = g = h = i = j = k = m = o = p = q = r = n
    a += b
    c += d
    e += f
    g += h
    i += j
    k += m
    o += p
    return a + c + e + g + i + k + o + q + r


@case((3,), (300,))
def extended_arguments(n):
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    total = 0
    for i in range(n):
        if i % 7 == 0:
            total += x0 + x1 * 1000 + x2 * 1001 + x3 * 1002 + x4 * 1003 + x5 * 1004 + x6 * 1005 + x7 * 1006
        elif i % 7 == 1:
            total -= x8 + x9 * 1007 + x1 * 1008 + x2 * 1009 + x3 * 1010 + x4 * 1011 + x5 * 1012 + x6 * 1013
        elif i % 7 == 2:
            total += x0 * 1014 + x1 * 1015 + x2 * 1016 + x3 * 1017 + x4 * 1018 + x5 * 1019 + x6 * 1020 + x7 * 1021
        elif i % 7 == 3:
            total -= x8 * 1022 + x9 * 1023 + x1 * 1024 + x2 * 1025 + x3 * 1026 + x4 * 1027 + x5 * 1028 + x6 * 1029
        else:
            total ^= x0 * 1030 + x1 * 1031 + x2 * 1032 + x3 * 1033 + x4 * 1034 + x5 * 1035 + x6 * 1036 + x7 * 1037
    return total


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)
