/* Programs of bench/container_programs.py in C with the interpreter's C API, as one would write them by hand: native
   memory for what does not leave, Python's objects for what comes and goes. Classes of items are checked, numbers are
   changed in place where nobody else has them, a dict or set of ints is a table with CPython's probing. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef double f64;
#define PROGRAM(name) static PyObject *name(PyObject *module, PyObject *const *a, Py_ssize_t given)
#define FOR(i, n) for (i64 i = 0; i < (n); i++)
#define ITEMS(list) (((PyListObject *)(list))->ob_item)
#define NEED(truth) if (!(truth)) return PyErr_Format(PyExc_TypeError, "%s: another class", __func__)
#define IS_INT(o) (Py_TYPE(o) == &PyLong_Type)
#define IS_FLOAT(o) (Py_TYPE(o) == &PyFloat_Type)
#define FLOAT(o) (((PyFloatObject *)(o))->ob_fval)

static inline i64 INT(PyObject *o) {
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)o)) return PyUnstable_Long_CompactValue((PyLongObject *)o);
#else
    if ((u64)(Py_SIZE(o) + 1) <= 2) return Py_SIZE(o) * (i64)((PyLongObject *)o)->ob_digit[0];
#endif
    return PyLong_AsLongLong(o);
}

/* ---- lists */

PROGRAM(sieve_list) {
    i64 n = INT(a[0]), found = 0, *primes = malloc(8 * (n + 1));
    char *composite = calloc(n + 1, 1);
    for (i64 i = 2; i <= n; i++) if (!composite[i]) {
        primes[found++] = i;
        for (i64 k = i * i; k <= n; k += i) composite[k] = 1;
    }
    PyObject *result = PyList_New(found);
    FOR(i, found) ITEMS(result)[i] = PyLong_FromLongLong(primes[i]);
    free(composite), free(primes);
    return result;
}

PROGRAM(sum_floats) {
    f64 total = 0;
    PyObject **x = ITEMS(a[0]);
    FOR(i, Py_SIZE(a[0])) {
        NEED(IS_FLOAT(x[i]));
        total += FLOAT(x[i]);
    }
    return PyFloat_FromDouble(total);
}

PROGRAM(smooth) {
    PyObject **x = ITEMS(a[0]);
    i64 n = Py_SIZE(a[0]);
    for (i64 i = 1; i < n; i++) {
        NEED(IS_FLOAT(x[i]) && IS_FLOAT(x[i - 1]) && Py_REFCNT(x[i]) == 1);
        FLOAT(x[i]) = FLOAT(x[i - 1]) * 0.5 + FLOAT(x[i]);
    }
    Py_INCREF(x[n - 1]);
    return x[n - 1];
}

PROGRAM(bisect_left) {
    f64 x = FLOAT(a[1]);
    PyObject **values = ITEMS(a[0]);
    i64 low = 0, high = Py_SIZE(a[0]);
    while (low < high) {
        i64 middle = (low + high) / 2;
        NEED(IS_FLOAT(values[middle]));
        if (FLOAT(values[middle]) < x) low = middle + 1;
        else high = middle;
    }
    return PyLong_FromLongLong(low);
}

PROGRAM(append_floats) {
    i64 n = INT(a[0]), used = 0, room = 4;
    f64 x = 0.5, *values = malloc(8 * room);
    FOR(i, n) {
        x = 3.7 * x * (1.0 - x);
        if (used == room) values = realloc(values, 8 * (room *= 2));
        values[used++] = x;
    }
    PyObject *result = PyList_New(used);
    FOR(i, used) ITEMS(result)[i] = PyFloat_FromDouble(values[i]);
    free(values);
    return result;
}

PROGRAM(n_queens) {
    i64 n = INT(a[0]), row = 0, found = 0, *columns = malloc(8 * n);
    FOR(i, n) columns[i] = -1;
    while (row >= 0) {
        columns[row]++;
        while (columns[row] < n) {
            int good = 1;
            FOR(other, row) if (columns[other] == columns[row] || llabs(columns[other] - columns[row]) == row - other) {
                good = 0;
                break;
            }
            if (good) break;
            columns[row]++;
        }
        if (columns[row] == n) row--;
        else if (row == n - 1) found++;
        else columns[++row] = -1;
    }
    free(columns);
    return PyLong_FromLongLong(found);
}

typedef struct { u64 key; PyObject *object; } Keyed;

PROGRAM(sort_floats) {  /* by the digits of their bits, the last one first */
    static uint32_t counts[8][256];
    i64 n = Py_SIZE(a[0]);
    Keyed *x = malloc(sizeof(Keyed) * n), *y = malloc(sizeof(Keyed) * n), *other;
    memset(counts, 0, sizeof counts);
    FOR(i, n) {
        PyObject *o = ITEMS(a[0])[i];
        u64 key;
        NEED(IS_FLOAT(o));
        memcpy(&key, &FLOAT(o), 8);
        key ^= (u64)((i64)key >> 63) | 1ull << 63;
        x[i] = (Keyed){key, o};
        FOR(d, 8) counts[d][key >> 8 * d & 255]++;
    }
    FOR(d, 8) if (counts[d][x[0].key >> 8 * d & 255] != n) {
        uint32_t place = 0, size;
        FOR(k, 256) size = counts[d][k], counts[d][k] = place, place += size;
        FOR(i, n) y[counts[d][x[i].key >> 8 * d & 255]++] = x[i];
        other = x, x = y, y = other;
    }
    PyObject *result = PyList_New(n);
    FOR(i, n) Py_INCREF(x[i].object), ITEMS(result)[i] = x[i].object;
    free(x), free(y);
    return result;
}

PROGRAM(evaluate_stack) {
    i64 n = Py_SIZE(a[0]), used = 0;
    f64 *stack = malloc(8 * (n + 1)), right, left;
    FOR(i, n) {
        PyObject *pair = ITEMS(a[0])[i];
        NEED(Py_TYPE(pair) == &PyTuple_Type);
        PyObject *code = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
        NEED(IS_INT(code) && IS_FLOAT(value));
        i64 which = INT(code);
        if (!which) stack[used++] = FLOAT(value);
        else {
            right = stack[--used], left = stack[--used];
            stack[used++] = which == 1 ? left + right : which == 2 ? left - right : left * right;
        }
    }
    f64 result = stack[0];
    free(stack);
    return PyFloat_FromDouble(result);
}

PROGRAM(flood_fill) {
    Py_buffer grid;
    if (PyObject_GetBuffer(a[0], &grid, PyBUF_ND | PyBUF_WRITABLE)) return NULL;
    i64 rows = grid.shape[0], columns = grid.shape[1], *cells = grid.buf, colour = INT(a[3]), filled = 0, used = 1;
    i64 room = 16, (*stack)[2] = malloc(16 * room), old = cells[INT(a[1]) * columns + INT(a[2])];
    stack[0][0] = INT(a[1]), stack[0][1] = INT(a[2]);
    while (used) {
        i64 row = stack[--used][0], column = stack[used][1];
        if (row < 0 || column < 0 || row >= rows || column >= columns || cells[row * columns + column] != old) continue;
        cells[row * columns + column] = colour;
        filled++;
        if (used + 4 > room) stack = realloc(stack, 16 * (room *= 2));
        memcpy(stack + used, (i64[4][2]){{row + 1, column}, {row - 1, column}, {row, column + 1},
                                         {row, column - 1}}, 64);
        used += 4;
    }
    free(stack);
    PyBuffer_Release(&grid);
    return PyLong_FromLongLong(filled);
}

PROGRAM(count_up) {
    i64 n = Py_SIZE(a[0]);
    FOR(i, n) {
        PyObject *o = ITEMS(a[0])[i];
        NEED(IS_INT(o));
        ITEMS(a[0])[i] = PyLong_FromLongLong(INT(o) + 1);
        Py_DECREF(o);
    }
    Py_INCREF(ITEMS(a[0])[0]);
    return ITEMS(a[0])[0];
}

/* The numbers of a list of lists, row by row; NULL where one is not a float. */
static f64 *matrix(PyObject *rows, i64 n, i64 m) {
    f64 *x = malloc(8 * n * m);
    FOR(i, n) FOR(j, m) {
        PyObject *o = ITEMS(ITEMS(rows)[i])[j];
        if (!IS_FLOAT(o)) return NULL;
        x[i * m + j] = FLOAT(o);
    }
    return x;
}

PROGRAM(matmul_lists) {
    i64 n = Py_SIZE(a[0]), m = Py_SIZE(a[1]), p = Py_SIZE(ITEMS(a[1])[0]);
    f64 *x = matrix(a[0], n, m), *y = matrix(a[1], m, p), *sums = malloc(8 * p);
    NEED(x && y);
    PyObject *result = PyList_New(n);
    FOR(i, n) {
        memset(sums, 0, 8 * p);
        FOR(k, m) FOR(j, p) sums[j] += x[i * m + k] * y[k * p + j];
        PyObject *row = ITEMS(result)[i] = PyList_New(p);
        FOR(j, p) ITEMS(row)[j] = PyFloat_FromDouble(sums[j]);
    }
    free(x), free(y), free(sums);
    return result;
}

PROGRAM(floyd_warshall_lists) {
    i64 n = Py_SIZE(a[0]);
    f64 *d = matrix(a[0], n, n);
    NEED(d);
    FOR(k, n) FOR(i, n) FOR(j, n) {
        f64 through = d[i * n + k] + d[k * n + j];
        if (through < d[i * n + j]) d[i * n + j] = through;
    }
    FOR(i, n) FOR(j, n) {
        PyObject *o = ITEMS(ITEMS(a[0])[i])[j];
        if (FLOAT(o) == d[i * n + j]) continue;
        if (Py_REFCNT(o) == 1) FLOAT(o) = d[i * n + j];
        else ITEMS(ITEMS(a[0])[i])[j] = PyFloat_FromDouble(d[i * n + j]), Py_DECREF(o);
    }
    free(d);
    PyObject *last = ITEMS(ITEMS(a[0])[0])[n - 1];
    Py_INCREF(last);
    return last;
}

typedef struct { f64 x, y; PyObject *object; } Point;

static int before(const void *p, const void *q) {
    const Point *a = p, *b = q;
    return a->x < b->x ? -1 : a->x > b->x ? 1 : a->y < b->y ? -1 : a->y > b->y;
}

static i64 chain(Point *points, i64 n, i64 step, Point *hull) {
    i64 used = 0;
    for (i64 i = step > 0 ? 0 : n - 1; i >= 0 && i < n; i += step) {
        Point p = points[i];
        while (used >= 2) {
            Point *l = hull + used - 1, *k = hull + used - 2;
            if ((l->x - k->x) * (p.y - k->y) - (l->y - k->y) * (p.x - k->x) > 0.0) break;
            used--;
        }
        hull[used++] = p;
    }
    return used;
}

static Point *points_of(PyObject *list, int first, int second) {
    i64 n = Py_SIZE(list);
    Point *points = malloc(sizeof(Point) * n);
    FOR(i, n) {
        PyObject *o = ITEMS(list)[i], *x = PyTuple_GET_ITEM(o, first), *y = PyTuple_GET_ITEM(o, second);
        if (!IS_FLOAT(x) || (!IS_FLOAT(y) && !IS_INT(y))) return NULL;
        points[i] = (Point){FLOAT(x), IS_FLOAT(y) ? FLOAT(y) : INT(y), o};
    }
    return points;
}

PROGRAM(convex_hull) {
    i64 n = Py_SIZE(a[0]);
    Point *points = points_of(a[0], 0, 1), *lower = malloc(sizeof(Point) * n), *upper = malloc(sizeof(Point) * n);
    NEED(points);
    qsort(points, n, sizeof(Point), before);
    i64 below = chain(points, n, 1, lower) - 1, above = chain(points, n, -1, upper) - 1;
    PyObject *result = PyList_New(below + above);
    FOR(i, below + above) {
        PyObject *o = (i < below ? lower[i] : upper[i - below]).object;
        Py_INCREF(o), ITEMS(result)[i] = o;
    }
    free(points), free(lower), free(upper);
    return result;
}

PROGRAM(sort_tuples) {
    i64 n = Py_SIZE(a[0]);
    Point *points = points_of(a[0], 1, 0);
    NEED(points);
    qsort(points, n, sizeof(Point), before);
    PyObject *result = PyList_New(n);
    FOR(i, n) Py_INCREF(points[i].object), ITEMS(result)[i] = points[i].object;
    free(points);
    return result;
}

/* ---- heaps and queues */

typedef struct { f64 key; i64 number, left; } Entry;
typedef struct { Entry *x; i64 used, room; } Heap;

static inline int less(Entry a, Entry b) {
    return a.key < b.key || (a.key == b.key && (a.number < b.number || (a.number == b.number && a.left < b.left)));
}

static inline void push(Heap *h, Entry e) {
    if (h->used == h->room) h->x = realloc(h->x, sizeof(Entry) * (h->room = h->room ? 2 * h->room : 8));
    i64 i = h->used++;
    for (; i && less(e, h->x[(i - 1) / 2]); i = (i - 1) / 2) h->x[i] = h->x[(i - 1) / 2];
    h->x[i] = e;
}

static inline Entry pop(Heap *h) {
    Entry least = h->x[0], e = h->x[--h->used];
    i64 i = 0;
    for (i64 k; (k = 2 * i + 1) < h->used; i = k) {
        if (k + 1 < h->used && less(h->x[k + 1], h->x[k])) k++;
        if (!less(h->x[k], e)) break;
        h->x[i] = h->x[k];
    }
    h->x[i] = e;
    return least;
}

PROGRAM(dijkstra) {
    i64 n = Py_SIZE(a[0]) - 1, source = INT(a[3]);
    f64 *distance = malloc(8 * n);
    FOR(i, n) distance[i] = INFINITY;
    Heap heap = {NULL, 0, 0};
    distance[source] = 0;
    push(&heap, (Entry){0, source, 0});
    while (heap.used) {
        Entry e = pop(&heap);
        if (e.key > distance[e.number]) continue;
        PyObject *first = ITEMS(a[0])[e.number], *last = ITEMS(a[0])[e.number + 1];
        NEED(IS_INT(first) && IS_INT(last));
        for (i64 k = INT(first); k < INT(last); k++) {
            NEED(k < Py_SIZE(a[1]) && IS_INT(ITEMS(a[1])[k]) && IS_FLOAT(ITEMS(a[2])[k]));
            i64 other = INT(ITEMS(a[1])[k]);
            f64 through = e.key + FLOAT(ITEMS(a[2])[k]);
            if (through < distance[other]) {
                distance[other] = through;
                push(&heap, (Entry){through, other, 0});
            }
        }
    }
    PyObject *result = PyList_New(n);
    FOR(i, n) ITEMS(result)[i] = PyFloat_FromDouble(distance[i]);
    free(distance), free(heap.x);
    return result;
}

PROGRAM(order_book) {
    Heap books[2] = {{NULL, 0, 0}, {NULL, 0, 0}};  /* of those who buy, and of those who sell */
    i64 traded = 0;
    FOR(i, Py_SIZE(a[1])) {
        NEED(IS_INT(ITEMS(a[1])[i]) && IS_INT(ITEMS(a[2])[i]));
        int buys = ITEMS(a[0])[i] == Py_True;
        i64 amount = INT(ITEMS(a[2])[i]);
        f64 price = INT(ITEMS(a[1])[i]);
        Heap *own = &books[!buys], *other = &books[buys];
        while (amount > 0 && other->used && (buys ? other->x[0].key <= price : -other->x[0].key >= price)) {
            Entry e = pop(other);
            i64 n = amount < e.left ? amount : e.left;
            traded += n, amount -= n;
            if (e.left > n) push(other, (Entry){e.key, e.number, e.left - n});
        }
        if (amount > 0) push(own, (Entry){buys ? -price : price, i, amount});
    }
    free(books[0].x), free(books[1].x);
    return Py_BuildValue("LLL", (long long)traded, (long long)books[0].used, (long long)books[1].used);
}

PROGRAM(servers) {
    Heap heap = {NULL, 0, 0};
    f64 waited = 0;
    i64 n = Py_SIZE(a[0]);
    FOR(i, INT(a[2])) push(&heap, (Entry){0, 0, 0});
    FOR(i, n) {
        NEED(IS_FLOAT(ITEMS(a[0])[i]) && IS_FLOAT(ITEMS(a[1])[i]));
        f64 start = pop(&heap).key, arrival = FLOAT(ITEMS(a[0])[i]);
        if (start < arrival) start = arrival;
        waited += start - arrival;
        push(&heap, (Entry){start + FLOAT(ITEMS(a[1])[i]), 0, 0});
    }
    free(heap.x);
    return PyFloat_FromDouble(waited / n);
}

PROGRAM(breadth_first) {
    i64 n = Py_SIZE(a[0]) - 1, first = 0, last = 1, *level = malloc(8 * n), *queue = malloc(8 * n);
    FOR(i, n) level[i] = -1;
    queue[0] = INT(a[2]);
    level[queue[0]] = 0;
    while (first < last) {
        i64 node = queue[first++];
        NEED(IS_INT(ITEMS(a[0])[node]) && IS_INT(ITEMS(a[0])[node + 1]));
        for (i64 e = INT(ITEMS(a[0])[node]); e < INT(ITEMS(a[0])[node + 1]); e++) {
            NEED(IS_INT(ITEMS(a[1])[e]));
            i64 other = INT(ITEMS(a[1])[e]);
            if (level[other] < 0) level[other] = level[node] + 1, queue[last++] = other;
        }
    }
    PyObject *result = PyList_New(n);
    FOR(i, n) ITEMS(result)[i] = PyLong_FromLongLong(level[i]);
    free(level), free(queue);
    return result;
}

/* ---- dicts and sets: entries of `width` words, of which the first are the key, in the order of insertion */

typedef struct { i64 used, room, mask, width; int32_t *places; i64 *entries; } Table;

static Table table_of(i64 width, i64 size) {
    Table t = {0, size * 2 / 3, size - 1, width, malloc(4 * size + 8 * width * (size * 2 / 3))};
    memset(t.places, 255, 4 * size);
    t.entries = (i64 *)(t.places + size);
    return t;
}

static inline u64 hash_of(const i64 *key, int words) {
    if (words == 1) return key[0] + ((u64)key[0] >> 32);
    u64 h = (u64)key[0] * 11400714785074694791ull ^ (u64)key[1] * 14029467366897019727ull;
    return h ^ h >> 32;
}

static void grow(Table *t, int words) {
    Table wide = table_of(t->width, 2 * (t->mask + 1));
    FOR(i, t->used) {
        u64 h = hash_of(t->entries + i * t->width, words), place = h & wide.mask;
        while (wide.places[place] >= 0) h >>= 5, place = (5 * place + h + 1) & wide.mask;
        wide.places[place] = i;
    }
    memcpy(wide.entries, t->entries, 8 * t->width * t->used);
    wide.used = t->used;
    free(t->places);
    *t = wide;
}

/* The entry with a key; a new one where there is none and `add` is true, whose other words are 0. */
static inline i64 *entry(Table *t, const i64 *key, int words, int add) {
    if (add && t->used == t->room) grow(t, words);
    for (u64 h = hash_of(key, words), place = h & t->mask;; h >>= 5, place = (5 * place + h + 1) & t->mask) {
        int32_t i = t->places[place];
        i64 *e = t->entries + i * t->width;
        if (i >= 0) {
            if (e[0] == key[0] && (words == 1 || e[1] == key[1])) return e;
            continue;
        }
        if (!add) return NULL;
        t->places[place] = t->used;
        e = t->entries + t->used++ * t->width;
        FOR(w, t->width) e[w] = w < words ? key[w] : 0;
        return e;
    }
}

PROGRAM(count_keys) {
    Table t = table_of(2, 8);
    FOR(i, Py_SIZE(a[0])) {
        PyObject *o = ITEMS(a[0])[i];
        NEED(IS_INT(o));
        i64 key = INT(o);
        entry(&t, &key, 1, 1)[1]++;
    }
    PyObject *result = PyDict_New();
    FOR(i, t.used) {
        PyObject *key = PyLong_FromLongLong(t.entries[2 * i]), *value = PyLong_FromLongLong(t.entries[2 * i + 1]);
        PyDict_SetItem(result, key, value);
        Py_DECREF(key), Py_DECREF(value);
    }
    free(t.places);
    return result;
}

PROGRAM(group_by) {
    Table t = table_of(4, 8);
    FOR(i, Py_SIZE(a[0])) {
        PyObject *o = ITEMS(a[0])[i], *value = ITEMS(a[1])[i];
        NEED(IS_INT(o) && IS_FLOAT(value));
        i64 key = INT(o), *e = entry(&t, &key, 1, 1);  /* key, length, room, address */
        if (e[1] == e[2]) {
            e[2] = e[2] ? 2 * e[2] : 4;
            e[3] = (i64)realloc((void *)e[3], 8 * e[2]);
        }
        ((f64 *)e[3])[e[1]++] = FLOAT(value);
    }
    i64 best = -1;
    f64 most = -1.0;
    FOR(i, t.used) {
        i64 *e = t.entries + 4 * i;
        f64 total = 0;
        FOR(j, e[1]) total += ((f64 *)e[3])[j];
        if (total / e[1] > most) most = total / e[1], best = e[0];
        free((void *)e[3]);
    }
    free(t.places);
    return Py_BuildValue("Ld", (long long)best, most);
}

PROGRAM(two_sum) {
    Table t = table_of(2, 8);
    i64 target = INT(a[1]), first = -1, second = -1;
    FOR(i, Py_SIZE(a[0])) {
        PyObject *o = ITEMS(a[0])[i];
        NEED(IS_INT(o));
        i64 key = INT(o), rest = target - key, *e = entry(&t, &rest, 1, 0);
        if (e) {
            first = e[1], second = i;
            break;
        }
        entry(&t, &key, 1, 1)[1] = i;
    }
    free(t.places);
    return Py_BuildValue("LL", (long long)first, (long long)second);
}

PROGRAM(life_on_a_set) {
    Table alive = table_of(2, 8);
    PyObject *cells = PyObject_GetIter(a[0]), *o;
    while ((o = PyIter_Next(cells))) {
        entry(&alive, (i64[]){INT(PyTuple_GET_ITEM(o, 0)), INT(PyTuple_GET_ITEM(o, 1))}, 2, 1);
        Py_DECREF(o);
    }
    Py_DECREF(cells);
    FOR(step, INT(a[1])) {
        Table near = table_of(3, 8), after = table_of(2, 8);
        FOR(i, alive.used) for (int dx = -1; dx < 2; dx++) for (int dy = -1; dy < 2; dy++) if (dx || dy)
            entry(&near, (i64[]){alive.entries[2 * i] + dx, alive.entries[2 * i + 1] + dy}, 2, 1)[2]++;
        FOR(i, near.used) {
            i64 *e = near.entries + 3 * i;
            if (e[2] == 3 || (e[2] == 2 && entry(&alive, e, 2, 0))) entry(&after, e, 2, 1);
        }
        free(near.places), free(alive.places);
        alive = after;
    }
    i64 result = alive.used;
    free(alive.places);
    return PyLong_FromLongLong(result);
}

PROGRAM(distinct) {
    Table t = table_of(1, 8);
    FOR(i, Py_SIZE(a[0])) {
        PyObject *o = ITEMS(a[0])[i];
        NEED(IS_INT(o));
        i64 key = INT(o);
        entry(&t, &key, 1, 1);
    }
    i64 result = t.used;
    free(t.places);
    return PyLong_FromLongLong(result);
}

static i64 ways(const i64 *coins, i64 n, i64 amount, PyObject *known) {
    if (amount == 0) return 1;
    if (amount < 0 || n == 0) return 0;
    PyObject *key = Py_BuildValue("LL", (long long)n, (long long)amount), *value = PyDict_GetItemWithError(known, key);
    i64 found;
    if (value) found = INT(value);
    else {
        found = ways(coins, n, amount - coins[0], known) + ways(coins + 1, n - 1, amount, known);
        value = PyLong_FromLongLong(found);
        PyDict_SetItem(known, key, value);
        Py_DECREF(value);
    }
    Py_DECREF(key);
    return found;
}

PROGRAM(ways_to_change) {
    i64 coins[64], n = PyTuple_GET_SIZE(a[0]);
    NEED(n <= 64);
    FOR(i, n) coins[i] = INT(PyTuple_GET_ITEM(a[0], i));
    return PyLong_FromLongLong(ways(coins, n, INT(a[1]), a[2]));
}

/* ---- text and objects */

PROGRAM(is_palindrome) {
    i64 found = 0;
    FOR(i, Py_SIZE(a[0])) {
        PyObject *word = ITEMS(a[0])[i];
        NEED(Py_TYPE(word) == &PyUnicode_Type && PyUnicode_IS_COMPACT_ASCII(word));
        const char *text = PyUnicode_DATA(word);
        i64 n = PyUnicode_GET_LENGTH(word), k = 0;
        while (k < n / 2 && text[k] == text[n - 1 - k]) k++;
        found += k == n / 2;
    }
    return PyLong_FromLongLong(found);
}

typedef struct { const char *text; i64 length, count; u64 hash; } Word;

PROGRAM(word_count) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]));
    const char *text = PyUnicode_DATA(a[0]), *end = text + PyUnicode_GET_LENGTH(a[0]);
    i64 size = 1 << 16, used = 0;
    int32_t *places = malloc(4 * size);
    Word *words = malloc(sizeof(Word) * size);
    memset(places, 255, 4 * size);
    while (text < end) {
        if (*text == ' ' || (*text >= 9 && *text <= 13)) {
            text++;
            continue;
        }
        Word word = {text, 0, 1, 0};
        for (; text < end && *text != ' ' && !(*text >= 9 && *text <= 13); text++)
            word.hash = (word.hash ^ (unsigned char)*text) * 1099511628211ull;
        word.length = text - word.text;
        for (u64 place = word.hash >> 20 & (size - 1);; place = (place + 1) & (size - 1)) {
            Word *known = words + places[place];
            if (places[place] < 0) {
                NEED(used < size / 2);
                places[place] = used, words[used++] = word;
            } else if (known->hash != word.hash || known->length != word.length
                       || memcmp(known->text, word.text, word.length)) continue;
            else known->count++;
            break;
        }
    }
    PyObject *result = PyDict_New();
    FOR(i, used) {
        PyObject *key = PyUnicode_FromStringAndSize(words[i].text, words[i].length);
        PyObject *value = PyLong_FromLongLong(words[i].count);
        PyDict_SetItem(result, key, value);
        Py_DECREF(key), Py_DECREF(value);
    }
    free(places), free(words);
    return result;
}

PROGRAM(count_vowels) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]));
    const char *text = PyUnicode_DATA(a[0]);
    i64 n = 0;
    FOR(i, PyUnicode_GET_LENGTH(a[0])) {
        char c = text[i];
        n += c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
    }
    return PyLong_FromLongLong(n);
}

PROGRAM(levenshtein) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]) && PyUnicode_IS_COMPACT_ASCII(a[1]));
    const char *s = PyUnicode_DATA(a[0]), *t = PyUnicode_DATA(a[1]);
    i64 n = PyUnicode_GET_LENGTH(a[0]), m = PyUnicode_GET_LENGTH(a[1]), *row = malloc(8 * (m + 1));
    FOR(j, m + 1) row[j] = j;
    FOR(i, n) {
        i64 diagonal = row[0];
        row[0] = i + 1;
        FOR(j, m) {
            i64 old = row[j + 1], cost = diagonal + (s[i] != t[j]);
            if (old + 1 < cost) cost = old + 1;
            if (row[j] + 1 < cost) cost = row[j] + 1;
            row[j + 1] = cost, diagonal = old;
        }
    }
    i64 result = row[m];
    free(row);
    return PyLong_FromLongLong(result);
}

PROGRAM(parse_numbers) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]));
    const char *text = PyUnicode_DATA(a[0]);
    f64 total = 0;
    while (1) {
        char *end;
        total += strtod(text, &end);
        NEED(end != text);
        if (!*end) break;
        text = end + 1;
    }
    return PyFloat_FromDouble(total);
}

PROGRAM(caesar) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]));
    i64 n = PyUnicode_GET_LENGTH(a[0]), shift = INT(a[1]) % 26;
    PyObject *result = PyUnicode_New(n, 127);
    const char *text = PyUnicode_DATA(a[0]);
    char *out = PyUnicode_DATA(result);
    FOR(i, n) out[i] = text[i] >= 'a' && text[i] <= 'z' ? (text[i] - 97 + shift + 26) % 26 + 97 : text[i];
    return result;
}

PROGRAM(tokenise) {
    NEED(PyUnicode_IS_COMPACT_ASCII(a[0]));
    const char *text = PyUnicode_DATA(a[0]);
    i64 n = PyUnicode_GET_LENGTH(a[0]), i = 0, found = 0, first = 0, last = 0;
    while (i < n) {
        char c = text[i];
        if (c == ' ' || (c >= 9 && c <= 13)) {
            i++;
            continue;
        }
        first = i++;
        if (c >= '0' && c <= '9') while (i < n && text[i] >= '0' && text[i] <= '9') i++;
        else if (c == '"') {
            while (i < n && text[i] != '"') i++;
            i++;
        }
        last = i, found++;
    }
    return Py_BuildValue("LN", (long long)found, PyUnicode_FromStringAndSize(text + first, last - first));
}

PROGRAM(report_lines) {
    i64 n = Py_SIZE(a[1]), names = Py_SIZE(a[0]), room = 64, used = 0;
    char *text = malloc(room);
    FOR(i, n) {
        PyObject *name = ITEMS(a[0])[i % names];
        NEED(PyUnicode_IS_COMPACT_ASCII(name) && IS_FLOAT(ITEMS(a[1])[i]));
        i64 size = PyUnicode_GET_LENGTH(name);
        while (room < used + size + 350) text = realloc(text, room *= 2);
        if (i) text[used++] = '\n';
        memcpy(text + used, PyUnicode_DATA(name), size);
        used += size + snprintf(text + used + size, 340, ": %.2f", FLOAT(ITEMS(a[1])[i]));
    }
    PyObject *result = PyUnicode_FromStringAndSize(text, used);
    free(text);
    return result;
}

/* The attributes of the objects in a list, read once and written back at the end. */
static f64 *attributes(PyObject *list, const char **names, int count) {
    i64 n = Py_SIZE(list);
    f64 *x = malloc(8 * n * count);
    FOR(k, count) {
        PyObject *name = PyUnicode_InternFromString(names[k]);
        FOR(i, n) {
            PyObject *o = PyObject_GetAttr(ITEMS(list)[i], name);
            x[i * count + k] = FLOAT(o);
            Py_DECREF(o);
        }
        Py_DECREF(name);
    }
    return x;
}

static void write_back(PyObject *list, const char **names, int written, int count, f64 *x) {
    FOR(k, written) {
        PyObject *name = PyUnicode_InternFromString(names[k]);
        FOR(i, Py_SIZE(list)) {
            PyObject *o = PyFloat_FromDouble(x[i * count + k]);
            PyObject_SetAttr(ITEMS(list)[i], name, o);
            Py_DECREF(o);
        }
        Py_DECREF(name);
    }
    free(x);
}

PROGRAM(move_agents) {
    const char *names[] = {"x", "y", "speed", "heading"};
    f64 *x = attributes(a[0], names, 4), size = FLOAT(a[2]);
    FOR(step, INT(a[1])) FOR(i, Py_SIZE(a[0])) {
        f64 *agent = x + 4 * i;
        agent[0] = fmod(agent[0] + agent[2] * cos(agent[3]), size);
        agent[1] = fmod(agent[1] + agent[2] * sin(agent[3]), size);
        if (agent[0] < 0) agent[0] += size;
        if (agent[1] < 0) agent[1] += size;
    }
    f64 result = x[0];
    write_back(a[0], names, 2, 4, x);
    return PyFloat_FromDouble(result);
}

PROGRAM(n_body) {
    const char *names[] = {"x", "y", "vx", "vy", "mass"};
    f64 *x = attributes(a[0], names, 5), dt = FLOAT(a[2]);
    i64 n = Py_SIZE(a[0]);
    FOR(step, INT(a[1])) {
        FOR(i, n) for (i64 j = i + 1; j < n; j++) {
            f64 *p = x + 5 * i, *q = x + 5 * j, dx = p[0] - q[0], dy = p[1] - q[1];
            f64 r2 = dx * dx + dy * dy + 0.01, factor = dt / (r2 * sqrt(r2));
            p[2] -= dx * q[4] * factor, p[3] -= dy * q[4] * factor;
            q[2] += dx * p[4] * factor, q[3] += dy * p[4] * factor;
        }
        FOR(i, n) x[5 * i] += dt * x[5 * i + 2], x[5 * i + 1] += dt * x[5 * i + 3];
    }
    f64 result = x[0];
    write_back(a[0], names, 4, 5, x);
    return PyFloat_FromDouble(result);
}

typedef struct Node { i64 key; struct Node *left, *right; } Node;

static Node *node_of(i64 key) {
    Node *node = malloc(sizeof(Node));
    *node = (Node){key};
    return node;
}

PROGRAM(tree_of) {
    i64 n = Py_SIZE(a[0]), depth = 0, count = 1;
    Node *root = node_of(INT(ITEMS(a[0])[0]));
    FOR(i, n) {
        NEED(IS_INT(ITEMS(a[0])[i]));
        i64 key = INT(ITEMS(a[0])[i]);
        for (Node *node = root; key != node->key;) {
            Node **next = key < node->key ? &node->left : &node->right;
            if (!*next) *next = node_of(key);
            node = *next;
        }
    }
    Node **level = malloc(8 * (n + 1)), **below = malloc(8 * (n + 1)), **other;
    for (level[0] = root; count; depth++) {
        i64 next = 0;
        FOR(i, count) {
            if (level[i]->left) below[next++] = level[i]->left;
            if (level[i]->right) below[next++] = level[i]->right;
            free(level[i]);
        }
        other = level, level = below, below = other;
        count = next;
    }
    free(level), free(below);
    return PyLong_FromLongLong(depth);
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
static PyMethodDef METHODS[] = {
    METHOD(sieve_list), METHOD(sum_floats), METHOD(smooth), METHOD(bisect_left), METHOD(append_floats),
    METHOD(n_queens), METHOD(sort_floats), METHOD(evaluate_stack), METHOD(count_keys), METHOD(group_by),
    METHOD(two_sum), METHOD(life_on_a_set), METHOD(distinct), METHOD(ways_to_change), METHOD(is_palindrome),
    METHOD(tree_of), METHOD(count_up), METHOD(matmul_lists), METHOD(floyd_warshall_lists), METHOD(convex_hull),
    METHOD(sort_tuples), METHOD(dijkstra), METHOD(order_book), METHOD(servers), METHOD(breadth_first),
    METHOD(word_count), METHOD(count_vowels), METHOD(levenshtein), METHOD(parse_numbers), METHOD(caesar),
    METHOD(tokenise), METHOD(report_lines), METHOD(move_agents), METHOD(n_body),
    METHOD(flood_fill), {NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "container_programs", NULL, -1, METHODS};
PyMODINIT_FUNC PyInit_container_programs(void) { return PyModule_Create(&MODULE); }
