/* Loops over rows of numbers and over hashes, compiled. The twins in clew/native/pure.py give the same bits; the
   tests hold the two against each other. The rules are those of compiled.h. */

#include "compiled.h"
#include <stdint.h>
#include <string.h>

#define MOST_UNKNOWNS 128
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)

PyDoc_STRVAR(sums_doc, "sums(starts, items, rows, weights, found): of each row, the sum of the weights of its items "
                       "from first to last, written to `found`; 0 for rows beyond the last.");

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "sums() takes starts, items, rows, weights and where to write");
        return NULL;
    }
    if (clew_open(&all, args, "qiqdd", 4) < 0)
        return NULL;
    const int64_t *starts = all.views[0].buf, *rows = all.views[2].buf;
    const int32_t *items = all.views[1].buf;
    const double *weights = all.views[3].buf;
    double *found = all.views[4].buf;
    const int64_t height = all.views[0].len / 8 - 1, length = all.views[1].len / 4;
    const int64_t asked = all.views[2].len / 8, width = all.views[3].len / 8;
    const int fits = all.views[4].len / 8 == asked;
    int wrong = 0;
    for (int64_t i = 0; i < asked && fits && !wrong; i++) {
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
    clew_close(&all);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "one answer for each row was expected");
        return NULL;
    }
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a row or an item is out of range");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(find_doc, "find(keys, ids, wanted, found): the number of each wanted key in a hash table of two arrays, "
                       "written to `found`; -1 where it is not there.");

static PyObject *find(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "find() takes keys, ids, wanted keys and where to write");
        return NULL;
    }
    if (clew_open(&all, args, "QiQq", 3) < 0)
        return NULL;
    const uint64_t *keys = all.views[0].buf, *wanted = all.views[2].buf;
    const int32_t *ids = all.views[1].buf;
    int64_t *found = all.views[3].buf;
    const uint64_t places = (uint64_t)all.views[0].len / 8;
    const int64_t asked = all.views[2].len / 8;
    int bits = 0;
    while (bits < 62 && (UINT64_C(1) << bits) < places)
        bits++;
    const int wrong = bits == 0 || (UINT64_C(1) << bits) != places || (uint64_t)all.views[1].len / 4 != places ||
                      all.views[3].len / 8 != asked;
    for (int64_t i = 0; i < asked && !wrong; i++) {
        uint64_t place = (wanted[i] * SPREAD) >> (64 - bits);
        uint64_t steps = 0;
        while (ids[place] != -1 && keys[place] != wanted[i] && steps++ < places)
            place = (place + 1) & (places - 1);
        found[i] = keys[place] == wanted[i] ? ids[place] : -1;
    }
    clew_close(&all);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "tables have a power of two of places, answers one for each question");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(best_doc, "best(host, used, hosts, numbers, entered, states, scores): of the first `used` entries those of a "
                       "host whose candidate is in state 0 with the score it was entered with; gives the candidate "
                       "with the highest score, the lowest number among equals, or -1.");

static PyObject *best(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 7) {
        PyErr_SetString(PyExc_TypeError, "best() takes a host, a length and five columns");
        return NULL;
    }
    const long long host = PyLong_AsLongLong(args[0]);
    const Py_ssize_t used = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred())
        return NULL;
    if (clew_open(&all, args + 2, "iqdBd", -1) < 0)
        return NULL;
    const int32_t *hosts = all.views[0].buf;
    const int64_t *numbers = all.views[1].buf;
    const double *entered = all.views[2].buf, *scores = all.views[4].buf;
    const unsigned char *states = all.views[3].buf;
    const int64_t known = all.views[3].len < all.views[4].len / 8 ? all.views[3].len : all.views[4].len / 8;
    int64_t found = -1;
    double highest = 0.0;
    const int fits = used >= 0 && used <= all.views[0].len / 4 && used <= all.views[1].len / 8 &&
                     used <= all.views[2].len / 8;
    int wrong = 0;
    for (Py_ssize_t i = 0; i < used && fits && !wrong; i++) {
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
    clew_close(&all);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "there are fewer entries than are in use");
        return NULL;
    }
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a candidate is out of range");
        return NULL;
    }
    return PyLong_FromLongLong(found);
}

PyDoc_STRVAR(gathered_doc, "gathered(to, of, values, found): `found` is set to 0, then each place `to[i]` of it is "
                           "added `values[of[i]]`, from first to last.");

static PyObject *gathered(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "gathered() takes places, places, values and where to write");
        return NULL;
    }
    if (clew_open(&all, args, "iidd", 3) < 0)
        return NULL;
    const int32_t *to = all.views[0].buf, *of = all.views[1].buf;
    const double *values = all.views[2].buf;
    double *found = all.views[3].buf;
    const int64_t size = all.views[0].len / 4, width = all.views[2].len / 8, height = all.views[3].len / 8;
    const int fits = all.views[1].len / 4 == size;
    int wrong = 0;
    if (fits)
        memset(found, 0, (size_t)all.views[3].len);
    for (int64_t i = 0; i < size && fits && !wrong; i++) {
        wrong = to[i] < 0 || to[i] >= height || of[i] < 0 || of[i] >= width;
        if (!wrong)
            found[to[i]] += values[of[i]];
    }
    clew_close(&all);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "as many places to add to as to take from were expected");
        return NULL;
    }
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a place is out of range");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* The sum of at most 128 numbers as numpy adds them up: in eight sums, then the rest. */
static double added(const double *values, int64_t size)
{
    double sum = 0.0;
    int64_t at = 0;
    if (size >= 8) {
        double part[8];
        memcpy(part, values, sizeof part);
        for (at = 8; at + 8 <= size; at += 8)
            for (int i = 0; i < 8; i++)
                part[i] += values[at + i];
        sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; at < size; at++)
        sum += values[at];
    return sum;
}

PyDoc_STRVAR(solved_doc, "solved(matrix, target, found): x with matrix x = target, by elimination without a choice "
                         "of pivots, written to `found`; at most 128 unknowns.");

static PyObject *solved(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "solved() takes a matrix, a target and where to write");
        return NULL;
    }
    if (clew_open(&all, args, "ddd", 2) < 0)
        return NULL;
    const double *matrix = all.views[0].buf, *target = all.views[1].buf;
    double *found = all.views[2].buf, *both = NULL, terms[MOST_UNKNOWNS];
    const int64_t size = all.views[1].len / 8, width = size + 1;
    const int fits = size <= MOST_UNKNOWNS && all.views[0].len / 8 == size * size && all.views[2].len / 8 == size;
    if (fits)
        both = PyMem_Malloc((size_t)(size * width) * sizeof(double));
    for (int64_t row = 0; row < size && both != NULL; row++) {
        memcpy(both + row * width, matrix + row * size, (size_t)size * sizeof(double));
        both[row * width + size] = target[row];
    }
    for (int64_t i = 0; i < size && both != NULL; i++)
        for (int64_t row = i + 1; row < size; row++) {
            const double share = both[row * width + i] / both[i * width + i];
            for (int64_t at = i; at < width; at++)
                both[row * width + at] -= share * both[i * width + at];
        }
    for (int64_t i = size - 1; i >= 0 && both != NULL; i--) {
        const double *row = both + i * width;
        for (int64_t at = i + 1; at < size; at++)
            terms[at - i - 1] = row[at] * found[at];
        found[i] = (row[size] - added(terms, size - i - 1)) / row[i];
    }
    clew_close(&all);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "a square matrix and as many numbers, at most 128, were expected");
        return NULL;
    }
    if (both == NULL)
        return PyErr_NoMemory();
    PyMem_Free(both);
    Py_RETURN_NONE;
}

PyMethodDef clew_rows_methods[] = {
    {"best", (PyCFunction)(void (*)(void))best, METH_FASTCALL, best_doc},
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, find_doc},
    {"gathered", (PyCFunction)(void (*)(void))gathered, METH_FASTCALL, gathered_doc},
    {"solved", (PyCFunction)(void (*)(void))solved, METH_FASTCALL, solved_doc},
    {"sums", (PyCFunction)(void (*)(void))sums, METH_FASTCALL, sums_doc},
    {NULL, NULL, 0, NULL},
};
