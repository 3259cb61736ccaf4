/* A loop over the places of a sparse matrix, compiled. What it gives is said, and also written, in Python: see
   clew/learn/logistic.py. The tests hold the two against each other.

   Rules here: no global state, no pointer kept between calls, every index checked against a length taken from
   the object itself. */

#include "compiled.h"
#include <stdint.h>
#include <string.h>

/* A buffer of items of one size; -1 with an error where the object has others. */
static int take(Py_buffer *view, PyObject *object, Py_ssize_t size, int flags)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | flags) < 0)
        return -1;
    if (view->itemsize == size && view->len % size == 0)
        return 0;
    PyErr_Format(PyExc_TypeError, "items of %zd bytes were expected, not of %zd", size, view->itemsize);
    PyBuffer_Release(view);
    return -1;
}

PyDoc_STRVAR(gathered_doc, "gathered(to, of, values, found): `found` is set to 0, then each place `to[i]` of it is "
                           "added `values[of[i]]`, from first to last.");

static PyObject *gathered(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    static const Py_ssize_t sizes[4] = {4, 4, 8, 8};
    Py_buffer views[4];
    int open = 0;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "gathered() takes places, places, values and where to write");
        return NULL;
    }
    while (open < 4 && take(&views[open], args[open], sizes[open], open == 3 ? PyBUF_WRITABLE : 0) == 0)
        open++;
    int wrong = 0;
    if (open == 4) {
        const int32_t *to = views[0].buf, *of = views[1].buf;
        const double *values = views[2].buf;
        double *found = views[3].buf;
        const int64_t size = views[0].len / 4, width = views[2].len / 8, height = views[3].len / 8;
        wrong = views[1].len / 4 != size;
        memset(found, 0, (size_t)views[3].len);
        for (int64_t i = 0; i < size && !wrong; i++) {
            wrong = to[i] < 0 || to[i] >= height || of[i] < 0 || of[i] >= width;
            if (!wrong)
                found[to[i]] += values[of[i]];
        }
    }
    const int failed = open < 4;
    while (open > 0)
        PyBuffer_Release(&views[--open]);
    if (failed)
        return NULL;
    if (wrong) {
        PyErr_SetString(PyExc_IndexError, "a place is out of range");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef clew_sparse_methods[] = {
    {"gathered", (PyCFunction)(void (*)(void))gathered, METH_FASTCALL, gathered_doc},
    {NULL, NULL, 0, NULL},
};
