/* Loops over rows of numbers and over hashes, compiled. What each gives is said, and also written, in Python:
   see clew/learn/rows.py, clew/words/forms.py, clew/url/index.py and
   clew/frontier/runs.py. The tests hold the two against each other.

   Rules here: no global state, no pointer kept between calls, every index checked against a length taken from
   the object itself. */

#include "compiled.h"
#include <stdint.h>
#include <string.h>

#define SPREAD UINT64_C(0x9E3779B97F4A7C15)

/* The buffers that a call is given; those that were opened are closed again. */
typedef struct {
    Py_buffer views[5];
    int open;
} Buffers;

static int take(Buffers *all, PyObject *object, Py_ssize_t size, int flags)
{
    Py_buffer *view = &all->views[all->open];
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return -1;
    all->open++;
    if (view->itemsize == size && view->len % size == 0)
        return 0;
    PyErr_Format(PyExc_TypeError, "items of %zd bytes were expected, not of %zd", size, view->itemsize);
    return -1;
}

static void let_go(Buffers *all)
{
    while (all->open > 0)
        PyBuffer_Release(&all->views[--all->open]);
}

PyDoc_STRVAR(sums_doc, "sums(starts, items, rows, weights, found): of each row, the sum of the weights of its items "
                       "from first to last, written to `found`; 0 for rows beyond the last.");

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Buffers all = {.open = 0};
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "sums() takes starts, items, rows, weights and where to write");
        return NULL;
    }
    if (take(&all, args[0], 8, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[1], 4, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[2], 8, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[3], 8, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[4], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        let_go(&all);
        return NULL;
    }
    const int64_t *starts = all.views[0].buf, *rows = all.views[2].buf;
    const int32_t *items = all.views[1].buf;
    const double *weights = all.views[3].buf;
    double *found = all.views[4].buf;
    const int64_t height = all.views[0].len / 8 - 1, length = all.views[1].len / 4;
    const int64_t asked = all.views[2].len / 8, width = all.views[3].len / 8;
    int wrong = all.views[4].len / 8 != asked;
    for (int64_t i = 0; i < asked && !wrong; i++) {
        double sum = 0.0;
        if (rows[i] >= 0 && rows[i] < height) {
            const int64_t end = starts[rows[i] + 1];
            int64_t at = starts[rows[i]];
            wrong = at < 0 || end > length;
            for (; at < end && !wrong; at++) {
                wrong = items[at] < 0 || items[at] >= width;
                sum += wrong ? 0.0 : weights[items[at]];
            }
        }
        found[i] = sum;
    }
    let_go(&all);
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a row or an item is out of range");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(first_doc, "first_of_each(lengths, items, shorter, kept): rows without what stands in them a second "
                        "time, written to `shorter` and `kept`; gives how many items are kept.");

static PyObject *first_of_each(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Buffers all = {.open = 0};
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "first_of_each() takes lengths, items and where to write both");
        return NULL;
    }
    if (take(&all, args[0], 8, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[1], 4, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[2], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0 ||
        take(&all, args[3], 4, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        let_go(&all);
        return NULL;
    }
    const int64_t *lengths = all.views[0].buf;
    const int32_t *items = all.views[1].buf;
    int64_t *shorter = all.views[2].buf;
    int32_t *kept = all.views[3].buf;
    const int64_t rows = all.views[0].len / 8, size = all.views[1].len / 4;
    int wrong = all.views[2].len / 8 != rows || all.views[3].len / 4 < size;
    int64_t at = 0, to = 0;
    for (int64_t row = 0; row < rows && !wrong; row++) {
        const int64_t begin = to;
        wrong = lengths[row] < 0 || lengths[row] > size - at;
        for (int64_t left = wrong ? 0 : lengths[row]; left > 0; left--, at++) {
            int64_t seen = begin;
            while (seen < to && kept[seen] != items[at])
                seen++;
            if (seen == to)
                kept[to++] = items[at];
        }
        shorter[row] = to - begin;
    }
    let_go(&all);
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a row is out of range");
        return NULL;
    }
    return PyLong_FromLongLong(to);
}

PyDoc_STRVAR(find_doc, "find(keys, ids, wanted, found): the number of each wanted key in a hash table of two arrays, "
                       "written to `found`; -1 where it is not there.");

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Buffers all = {.open = 0};
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "find() takes keys, ids, wanted keys and where to write");
        return NULL;
    }
    if (take(&all, args[0], 8, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[1], 4, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[2], 8, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[3], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        let_go(&all);
        return NULL;
    }
    const uint64_t *keys = all.views[0].buf, *wanted = all.views[2].buf;
    const int32_t *ids = all.views[1].buf;
    int64_t *found = all.views[3].buf;
    const uint64_t places = (uint64_t)all.views[0].len / 8;
    const int64_t asked = all.views[2].len / 8;
    int bits = 0;
    while (bits < 62 && (UINT64_C(1) << bits) < places)
        bits++;
    int wrong = bits == 0 || (UINT64_C(1) << bits) != places || (uint64_t)all.views[1].len / 4 != places ||
                all.views[3].len / 8 != asked;
    for (int64_t i = 0; i < asked && !wrong; i++) {
        uint64_t place = (wanted[i] * SPREAD) >> (64 - bits);
        uint64_t steps = 0;
        while (ids[place] != -1 && keys[place] != wanted[i] && steps++ < places)
            place = (place + 1) & (places - 1);
        found[i] = keys[place] == wanted[i] ? ids[place] : -1;
    }
    let_go(&all);
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "tables have a power of two of places, answers one for each question");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(best_doc, "best(host, used, hosts, numbers, entered, states, scores): of the first `used` entries those of a "
                       "host whose candidate is in state 0 with the score it was entered with; gives the candidate "
                       "with the highest score, the lowest number among equals, or -1.");

static PyObject *best(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Buffers all = {.open = 0};
    if (count != 7) {
        PyErr_SetString(PyExc_TypeError, "best() takes a host, a length and five columns");
        return NULL;
    }
    const long long host = PyLong_AsLongLong(args[0]);
    const Py_ssize_t used = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred())
        return NULL;
    if (take(&all, args[2], 4, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[3], 8, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[4], 8, PyBUF_C_CONTIGUOUS) < 0 || take(&all, args[5], 1, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[6], 8, PyBUF_C_CONTIGUOUS) < 0) {
        let_go(&all);
        return NULL;
    }
    const int32_t *hosts = all.views[0].buf;
    const int64_t *numbers = all.views[1].buf;
    const double *entered = all.views[2].buf, *scores = all.views[4].buf;
    const unsigned char *states = all.views[3].buf;
    const int64_t known = all.views[3].len < all.views[4].len / 8 ? all.views[3].len : all.views[4].len / 8;
    int64_t found = -1;
    double highest = 0.0;
    int wrong = used < 0 || used > all.views[0].len / 4 || used > all.views[1].len / 8 || used > all.views[2].len / 8;
    for (Py_ssize_t i = 0; i < used && !wrong; i++) {
        if (hosts[i] != host)
            continue;
        const int64_t number = numbers[i];
        wrong = number < 0 || number >= known;
        if (wrong || states[number] != 0 || scores[number] != entered[i])
            continue;
        if (found < 0 || entered[i] > highest || (entered[i] == highest && number < found)) {
            found = number;
            highest = entered[i];
        }
    }
    let_go(&all);
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "an entry or a candidate is out of range");
        return NULL;
    }
    return PyLong_FromLongLong(found);
}

static uint64_t eight(const unsigned char *from)
{
    uint64_t found;
    memcpy(&found, from, 8);
#ifdef WORDS_BIGENDIAN
    found = ((found & UINT64_C(0x00FF00FF00FF00FF)) << 8) | ((found >> 8) & UINT64_C(0x00FF00FF00FF00FF));
    found = ((found & UINT64_C(0x0000FFFF0000FFFF)) << 16) | ((found >> 16) & UINT64_C(0x0000FFFF0000FFFF));
    found = found << 32 | found >> 32;
#endif
    return found;
}

PyDoc_STRVAR(hashed_doc, "hashed(text, hashes, starts, ends): for each word between the blanks of a text that begins "
                         "and ends with eight of them a hash, where it starts and where it ends; gives their number.");

static PyObject *hashed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Buffers all = {.open = 0};
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "hashed() takes a text and where to write hashes, starts and ends");
        return NULL;
    }
    if (take(&all, args[0], 1, PyBUF_C_CONTIGUOUS) < 0 ||
        take(&all, args[1], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0 ||
        take(&all, args[2], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0 ||
        take(&all, args[3], 8, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        let_go(&all);
        return NULL;
    }
    const unsigned char *text = all.views[0].buf;
    uint64_t *hashes = all.views[1].buf;
    int64_t *starts = all.views[2].buf, *ends = all.views[3].buf;
    const int64_t size = all.views[0].len, room = all.views[1].len / 8;
    int wrong = size < 16 || all.views[2].len / 8 != room || all.views[3].len / 8 != room;
    for (int i = 0; i < 8 && !wrong; i++)
        wrong = text[i] != 32 || text[size - 1 - i] != 32;
    int64_t words = 0;
    for (int64_t at = 8; at < size - 8 && !wrong;) {
        if (text[at] == 32) {
            at++;
            continue;
        }
        const int64_t start = at;
        while (text[at] != 32)
            at++;
        const uint64_t length = (uint64_t)(at - start);
        uint64_t head = eight(text + start), tail = length > 8 ? eight(text + at - 8) : 0;
        if (length < 8)
            head &= (UINT64_C(1) << 8 * length) - 1;
        uint64_t hash = (head * UINT64_C(0xBF58476D1CE4E5B9)) ^ ((tail + length) * UINT64_C(0x94D049BB133111EB));
        hash = (hash ^ (hash >> 29)) * SPREAD;
        wrong = words >= room;
        if (!wrong) {
            hashes[words] = hash ^ (hash >> 32);
            starts[words] = start;
            ends[words++] = at;
        }
    }
    let_go(&all);
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "eight blanks on either side and room for all words were expected");
        return NULL;
    }
    return PyLong_FromLongLong(words);
}

PyMethodDef clew_rows_methods[] = {
    {"best", (PyCFunction)(void (*)(void))best, METH_FASTCALL, best_doc},
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, find_doc},
    {"first_of_each", (PyCFunction)(void (*)(void))first_of_each, METH_FASTCALL, first_doc},
    {"hashed", (PyCFunction)(void (*)(void))hashed, METH_FASTCALL, hashed_doc},
    {"sums", (PyCFunction)(void (*)(void))sums, METH_FASTCALL, sums_doc},
    {NULL, NULL, 0, NULL},
};
