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
    METHOD(tree_of), {NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "container_programs", NULL, -1, METHODS};
PyMODINIT_FUNC PyInit_container_programs(void) { return PyModule_Create(&MODULE); }
