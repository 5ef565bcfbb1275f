"""The functions of `itertools` in the compiled subset: generators and iteration states."""
from ...infer.meaning import Apply, Throw
from ...ops.arith import ISUB
from ...ops.containers import TUPLE_LIKE, TUPLE_PUT
from ...ops.memory import CELL_LOAD, CELL_STORE
from ...ops.structure import PACK, STRUCT_GET
from ..build import outlined
from ..intrinsics import NOTHING, advance, iterate, same
from ..protocol import State
from ..rule import intrinsic
from .iteration import iterate_all

__all__ = ["PROTOCOLS"]


def count(start, step):
    while True:
        yield start
        start += step


def count_from_bool(start, step):
    """itertools.count of a bool and an int: only steps of another length than 1 begin with the bool itself."""
    if step == 1:
        start = int(start)
    while True:
        yield start
        start += step


def repeated(x, times):
    return PACK(x, times, name="repeat")


def repeat_step(s):
    x = STRUCT_GET(s, field="0")
    left = STRUCT_GET(s, field="1")
    if left > 0:
        return True, x, PACK(x, ISUB(left, 1, flags="nuw nsw"), name="repeat")
    return False, NOTHING, s


def forever(x):
    while True:
        yield x


def cycle(items):
    """cycle(items) for items that can be iterated over again and do not change."""
    some = True
    while some:
        some = False
        for x in items:
            some = True
            yield x


def cycle_saved(iterable):
    """cycle(iterable), like CPython's: the items of the first round are stored for later rounds."""
    saved = []
    for x in iterable:
        saved.append(x)
        yield x
    while saved:
        for x in saved:
            yield x


def accumulated(iterable, function):
    one = advance(iterate(iterable))
    if one[0]:
        total = one[1]
        rest = one[2]
        yield total
        while True:
            following = advance(rest)
            if not following[0]:
                break
            rest = following[2]
            if function is None:
                total = total + following[1]
            else:
                total = function(total, following[1])
            yield total


def accumulated_from(iterable, function, total):
    yield total
    for x in iterable:
        if function is None:
            total = total + x
        else:
            total = function(total, x)
        yield total


def called_until(function, sentinel):
    """iter(function, sentinel)"""
    while True:
        x = function()
        if same(sentinel, x):
            break
        yield x


def takewhile(function, iterable):
    for x in iterable:
        if not function(x):
            break
        yield x


def dropwhile(function, iterable):
    dropping = True
    for x in iterable:
        if dropping and function(x):
            continue
        dropping = False
        yield x


def filterfalse(function, iterable):
    for x in iterable:
        if function is None:
            keep = x
        else:
            keep = function(x)
        if not keep:
            yield x


def starmap(function, iterable):
    for x in iterable:
        yield function(*x)


def compress(data, selectors):
    for x, wanted in zip(data, selectors):
        if wanted:
            yield x


def pairwise(iterable):
    one = advance(iterate(iterable))
    if one[0]:
        before = one[1]
        rest = one[2]
        while True:
            following = advance(rest)
            if not following[0]:
                break
            rest = following[2]
            yield before, following[1]
            before = following[1]


@intrinsic
def put_now(now, state):
    """Store the state of groupby(). Code that was inferred before all types of the items were known, for a cell of
    fewer types, stays in the program, but never runs."""
    if state.type is now.type.state:
        return Apply(CELL_STORE, now, state)
    return Throw(RuntimeError, "groupby() has met an item of another type")


def grouped(iterable, function):
    """groupby(). The cell `now` has the item that was read last, its key, the number of the group that reads, -1 at the
    end, and the state of the item: 0 if its group has yielded it, 1 if it is the first of its group, and 2 if a group
    has read it and stopped, since it has another key. As in CPython, the keys are then compared once more. Items and
    keys that may have several types stay one value in a tuple: a call would be made for each of the types."""
    it = iter(iterable)
    for value in it:
        now = iter(PACK((value, key_of(value, function)), 0, 1, name="now"))
        number = 0
        while number >= 0:
            wanted = STRUCT_GET(CELL_LOAD(now), field="0")[1]
            yield wanted, iter(PACK(it, function, now, (wanted,), number, name="group"))
            number = next_group(it, function, now, (wanted,), number)
        return


def group_step(s):
    it = STRUCT_GET(s, field="0")
    function = STRUCT_GET(s, field="1")
    now = STRUCT_GET(s, field="2")
    wanted = STRUCT_GET(s, field="3")[0]
    number = STRUCT_GET(s, field="4")
    current = CELL_LOAD(now)
    if STRUCT_GET(current, field="1") != number:
        return False, NOTHING, s
    value, key = STRUCT_GET(current, field="0")
    known = STRUCT_GET(current, field="2")
    if known != 1:
        if known != 2:
            one = advance(it)
            if not one[0]:
                put_now(now, PACK((value, key), -1, 0, name="now"))
                return False, NOTHING, s
            value = one[1]
            key = key_of(value, function)
        if not same(wanted, key):
            put_now(now, PACK((value, key), number, 2, name="now"))
            return False, NOTHING, s
    put_now(now, PACK((value, key), number, 0, name="now"))
    return True, value, s


@outlined
def next_group(it, function, now, wanted, number):
    """Go on to the next group, past the items that this one has not read. Returns its number, -1 at the end."""
    current = CELL_LOAD(now)
    (wanted,) = wanted
    if STRUCT_GET(current, field="1") != number:
        return -1
    value, key = STRUCT_GET(current, field="0")
    if STRUCT_GET(current, field="2") == 2 and not same(wanted, key):
        put_now(now, PACK((value, key), number + 1, 1, name="now"))
        return number + 1
    for value in it:
        key = key_of(value, function)
        if not same(wanted, key):
            put_now(now, PACK((value, key), number + 1, 1, name="now"))
            return number + 1
    put_now(now, PACK((value, key), -1, 0, name="now"))
    return -1


def now_step(s):
    """`now` is no iterator; it is in a cell of one, whose state keeps its type."""
    return False, NOTHING, s


def key_of(value, function):
    if function is None:
        return value
    return function(value)


def tee(iterable, n):
    saved = list(())
    return tees(iter(iterable), saved, n, ())


def tees(it, saved, n, made):
    return made if n == len(made) else tees(it, saved, n, (*made, iter(PACK(it, saved, 0, name="tee"))))


def tee_step(s):
    """A step of one of the iterators of tee(). It yields the items in `saved`, which other iterators have read from
    `it`, and then the next items of `it`, which it appends to `saved`."""
    it = STRUCT_GET(s, field="0")
    saved = STRUCT_GET(s, field="1")
    at = STRUCT_GET(s, field="2")
    if at < len(saved):
        return True, saved[at], PACK(it, saved, at + 1, name="tee")
    one = advance(it)
    if not one[0]:
        return False, NOTHING, s
    saved.append(one[1])
    return True, one[1], PACK(it, saved, at + 1, name="tee")


def tee_of_fixed(items, n, made):
    """tee() of items that do not change, which each iterator reads by itself."""
    return made if n == len(made) else tee_of_fixed(items, n, (*made, iter(items)))


def islice(iterable, start, stop, step):
    if stop is not None and stop == -1:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if start < 0 or stop is not None and stop < 0:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    return sliced(iterate(iterable), start, stop, step)


def sliced(state, wanted, stop, step):
    """islice(). As in CPython, the step that reaches the end consumes the items between the last result and `stop`."""
    seen = 0
    while stop is None or seen < stop:
        while seen < wanted:
            skipped = advance(state)
            if not skipped[0]:
                return
            state = skipped[2]
            seen += 1
        if stop is not None and seen >= stop:
            break
        one = advance(state)
        if not one[0]:
            return
        state = one[2]
        seen += 1
        wanted += step
        if stop is not None and wanted > stop:
            wanted = stop
        yield one[1]


def chain_all(*iterables):
    return PACK(iterate_all(iterables, 0, ()), 0, name="chain")


def chain_step(s):
    return chain_steps(STRUCT_GET(s, field="0"), STRUCT_GET(s, field="1"), 0)


def chain_steps(states, at, k):
    if k == len(states):
        return False, NOTHING, NOTHING
    if at <= k:
        one = advance(states[k])
        if one[0]:
            return True, one[1], PACK(states[:k] + (one[2],) + states[k + 1:], k, name="chain")
    return chain_steps(states, at, k + 1)


def chained(iterables):
    for one in iterables:
        for x in one:
            yield x


def zip_longest(fill, *iterables):
    states = iterate_all(iterables, 0, ())
    return PACK(states, (True,) * len(states), fill, name="zip_longest")


def longest_step(s):
    return longest_steps(
        STRUCT_GET(s, field="0"), STRUCT_GET(s, field="1"), STRUCT_GET(s, field="2"), 0, (), (), (), False)


def longest_steps(states, alive, fill, k, items, done, left, some):
    if k == len(states):
        if some:
            return True, items, PACK(done, left, fill, name="zip_longest")
        return False, NOTHING, NOTHING
    x, state, has = longest_item(states[k], alive[k], fill)
    return longest_steps(states, alive, fill, k + 1, items + (x,), done + (state,), left + (has,), some or has)


def longest_item(state, alive, fill):
    if alive:
        one = advance(state)
        if one[0]:
            return one[1], one[2], True
    return fill, state, False


def pools_of(iterables, k, done):
    if k == len(iterables):
        return done
    return pools_of(iterables, k + 1, done + (list(iterables[k]),))


def product(repeat, *iterables):
    pools = pools_of(iterables, 0, ())
    return products(pools * repeat)


def products(pools):
    sizes = lengths(pools, 0, ())
    at = (0,) * len(pools)
    more = all(sizes)
    while more:
        yield picked(pools, at, 0, ())
        at, more = next_product(sizes, at, len(pools) - 1, ())


def lengths(pools, k, done):
    if k == len(pools):
        return done
    return lengths(pools, k + 1, done + (len(pools[k]),))


def picked(pools, at, k, items):
    if k == len(pools):
        return items
    return picked(pools, at, k + 1, items + (pools[k][at[k]],))


def next_product(sizes, at, k, tail):
    if k < 0:
        return tail, False
    if at[k] + 1 < sizes[k]:
        return at[:k] + (at[k] + 1,) + tail, True
    return next_product(sizes, at, k - 1, (0,) + tail)


def product_of_any(repeat, *iterables):
    return product_of(pools_of(iterables, 0, ()), repeat)


def product_of(iterables, repeat):
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    return products_of([tuple(list(x)) for x in iterables] * repeat)


def products_of(pools):
    """products() of a number of pools that is known only at run time."""
    n = len(pools)
    at = [0 for pool in pools]
    more = True
    for pool in pools:
        if len(pool) == 0:
            more = False
    like = tuple([x for pool in pools[:0] for x in pool])
    while more:
        yield one_of_each(pools, at, like)
        k = n - 1
        while k >= 0 and at[k] + 1 == len(pools[k]):
            at[k] = 0
            k -= 1
        more = k >= 0
        if more:
            at[k] += 1


def one_of_each(pools, at, like):
    made = TUPLE_LIKE(like, len(pools))
    for k in range(len(pools)):
        TUPLE_PUT(made, k, pools[k], at[k])
    return made


def combinations_of_any(iterable, r):
    """combinations() where the length of the tuples is known only at run time; likewise the next two functions."""
    if r < 0:
        raise ValueError("r must be non-negative")
    return any_combined(tuple(list(iterable)), r)


def any_combined(pool, r):
    n = len(pool)
    at = list(range(min(r, n)))
    more = r <= n
    while more:
        yield items_at(pool, at, r)
        k = r - 1
        while k >= 0 and at[k] == n - r + k:
            k -= 1
        more = k >= 0
        if more:
            at[k] += 1
            for j in range(k + 1, r):
                at[j] = at[j - 1] + 1


def combinations_with_replacement_of_any(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return any_combined_again(tuple(list(iterable)), r)


def any_combined_again(pool, r):
    n = len(pool)
    at = [0 for j in range(r)]
    more = n > 0 or r == 0
    while more:
        yield items_at(pool, at, r)
        k = r - 1
        while k >= 0 and at[k] == n - 1:
            k -= 1
        more = k >= 0
        if more:
            following = at[k] + 1
            for j in range(k, r):
                at[j] = following


def permutations_of_any(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return any_permuted(tuple(list(iterable)), r)


def all_permutations(iterable):
    pool = tuple(list(iterable))
    return any_permuted(pool, len(pool))


def items_at(pool, at, r):
    """The tuple of the items of a tuple at r places, whose objects are not made anew."""
    made = TUPLE_LIKE(pool, r)
    for k in range(r):
        TUPLE_PUT(made, k, pool, at[k])
    return made


def any_permuted(pool, r):
    n = len(pool)
    at = list(range(n))
    cycles = list(range(n, n - min(r, n), -1))
    more = r <= n
    while more:
        yield items_at(pool, at, r)
        more = next_permutation(at, cycles, n, r)


def combinations(iterable, r):
    return combined(list(iterable), run(0, r, ()))


def combined(pool, at):
    n = len(pool)
    more = len(at) <= n
    while more:
        yield chosen_items(pool, at, 0, ())
        at, more = next_combination(at, n, len(at) - 1)


def run(first, length, done):
    """The tuple first, first + 1, ..."""
    if length == 0:
        return done
    return run(first + 1, length - 1, done + (first,))


def chosen_items(pool, at, k, items):
    if k == len(at):
        return items
    return chosen_items(pool, at, k + 1, items + (pool[at[k]],))


def next_combination(at, n, k):
    if k < 0:
        return at, False
    if at[k] != k + n - len(at):
        return at[:k] + run(at[k] + 1, len(at) - k, ()), True
    return next_combination(at, n, k - 1)


def combinations_with_replacement(iterable, r):
    return combined_again(list(iterable), (0,) * r)


def combined_again(pool, at):
    n = len(pool)
    more = n > 0 or len(at) == 0
    while more:
        yield chosen_items(pool, at, 0, ())
        at, more = next_repetition(at, n, len(at) - 1)


def next_repetition(at, n, k):
    if k < 0:
        return at, False
    if at[k] != n - 1:
        return at[:k] + (at[k] + 1,) * (len(at) - k), True
    return next_repetition(at, n, k - 1)


def permutations(iterable, r):
    return permuted(list(iterable), (0,) * r)


def permuted(pool, places):
    """permutations(), as in CPython: `cycles` counts for each position how many changes remain. places: a tuple with
    the length of the results."""
    n = len(pool)
    r = len(places)
    at = list(range(n))
    cycles = list(range(n, n - min(r, n), -1))
    more = r <= n
    while more:
        yield arranged(pool, at, places, 0, ())
        more = next_permutation(at, cycles, n, r)


def arranged(pool, at, places, k, items):
    if k == len(places):
        return items
    return arranged(pool, at, places, k + 1, items + (pool[at[k]],))


def next_permutation(at, cycles, n, r):
    for i in range(r - 1, -1, -1):
        cycles[i] -= 1
        if cycles[i] == 0:
            first = at[i]
            for k in range(i, n - 1):
                at[k] = at[k + 1]
            at[n - 1] = first
            cycles[i] = n - i
        else:
            j = n - cycles[i]
            at[i], at[j] = at[j], at[i]
            return True
    return False


PROTOCOLS = {"chain": State(chain_step), "zip_longest": State(longest_step), "group": State(group_step),
             "now": State(now_step), "repeat": State(repeat_step), "tee": State(tee_step)}
