/* Loops over rows of numbers, compiled. What each gives is said, and also written, in Python: see
   clew/factor/ragged.py. The tests hold the two against each other.

   Rules here: no global state, no pointer kept between calls, every index checked against a length taken from
   the object itself. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

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

static PyMethodDef methods[] = {
    {"sums", (PyCFunction)(void (*)(void))sums, METH_FASTCALL, sums_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "clew.native._rows", "Loops over rows of numbers, compiled.", 0, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__rows(void)
{
    return PyModuleDef_Init(&module);
}
