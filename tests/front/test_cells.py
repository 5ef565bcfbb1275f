"""Variables that closures share: each run of a comprehension has its own cells, and each name has its own slot."""
from tests.front.executor import run
from tests.language.corpus import corpus, each
from tests.oracle import agree

case, CASES = corpus()


@case((3,))
def comprehension_makes_a_new_cell_each_time(n):
    made = []
    for k in range(n):
        made.append([lambda: i for i in range(k + 1)])
    return [f() for functions in made for f in functions]


@case((3,), (0,))
def comprehension_keeps_a_local_of_the_same_name(n):
    i = "kept"
    functions = [lambda: i for i in range(n)]
    return i, [f() for f in functions]


@case((3,))
def comprehension_keeps_a_parameter_of_the_same_name(i):
    functions = [lambda: i for i in range(i)]
    return i, [f() for f in functions]


@case((3,))
def comprehension_keeps_a_captured_variable_of_the_same_name(n):
    i = 1

    def inner():
        return i

    functions = [lambda: i for i in range(n)]
    i += 1
    return inner(), [f() for f in functions], i


@case((3,))
def comprehension_variable_named_like_a_free_variable(n):
    x = 10

    def inner():
        y = [x for x in range(n)]
        return y, x

    return inner()


@case((3,), (0,))
def comprehension_variable_named_like_a_variable_that_is_captured_elsewhere(n):
    rows = [[x] + [y] for x, y in zip(range(n), range(1, n + 1))]
    x = y = 10

    def inner():
        return x + y

    x += 1
    more = [[x] for x in range(n)]
    y += 1
    made = [[lambda: x for x in range(y)] + [[x]] for x in range(n)]
    return rows, inner(), x, y, more, [row[:-1][0]() for row in made if len(row) > 1], [row[-1] for row in made]


@case((3,))
def nested_comprehensions_capture_both_variables(n):
    rows = [[(lambda: (i, j, n)) for j in range(i)] for i in range(n)]
    return [f() for row in rows for f in row]


@case((2,), (4,))
def comprehension_that_raises_puts_the_cell_back(n):
    i = 5
    try:
        functions = [(lambda: i) if 1 // (i - 2) else 0 for i in range(n)]
    except ZeroDivisionError:
        return i
    return i, [f() for f in functions]


@case((3,))
def comprehension_in_a_generator(n):
    def each_row():
        for k in range(n):
            functions = [lambda: i + k for i in range(2)]
            yield [f() for f in functions]

    return list(each_row())


@case()
def deleted_before_it_is_bound():
    del x  # noqa: F821
    return lambda: x  # noqa: F821


@case((3,))
def deleted_after_it_is_captured(n):
    functions = []
    for k in range(n):
        x = k
        functions.append(lambda: x)  # noqa: F821
    first = functions[0]()
    del x
    try:
        return first, functions[0]()
    except NameError as error:
        return first, type(error).__name__, str(error)


@case((0,), (1,))
def captured_while_perhaps_unbound(n):
    if n:
        w = 1

    def inner():
        return w

    try:
        return inner()
    except NameError as error:
        return type(error).__name__, str(error)


@case((0,), (2,))
def assigned_again_in_a_handler(n):
    z = 0

    def inner():
        return z

    try:
        z = 1 // n
    except ZeroDivisionError:
        z = 7
    return inner()


@each(CASES)
def test_does_what_the_interpreter_does(function, calls):
    executed = run(function)
    for args in calls:
        agree(function, *args, compiled=executed)
