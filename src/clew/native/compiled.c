/* The extension clew.native._compiled: the functions of all the files beside this one, and how buffers are taken. */

#include "compiled.h"
#include <string.h>

/* Whether the items of a buffer are what a letter stands for. The same integer has several names in C, so the
   letters of a format that are of its sign are taken together with the size. A format that names a byte order is
   that of items in another order, or not where the machine can read them. */
static int is_of(const Py_buffer *view, char kind)
{
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@')
        format++;
    if (format[0] == 0 || format[1] != 0)
        return 0;
    switch (kind) {
    case 'd':
        return view->itemsize == 8 && *format == 'd';
    case 'q':
        return view->itemsize == 8 && strchr("ilqn", *format) != NULL;
    case 'i':
        return view->itemsize == 4 && strchr("il", *format) != NULL;
    case 'Q':
        return view->itemsize == 8 && strchr("ILQN", *format) != NULL;
    case 'B':
        return view->itemsize == 1 && *format == 'B';
    default:
        return view->itemsize == 2 && *format == 'H';
    }
}

int clew_open(clew_buffers *all, PyObject *const *args, const char *kinds, int writable)
{
    for (all->open = 0; kinds[all->open] != 0;) {
        const int at = all->open;
        Py_buffer *view = &all->views[at];
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (at == writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(args[at], view, flags) < 0) {
            /* Some say so of what has gaps or cannot be written to, where numpy says ValueError. */
            if (PyErr_ExceptionMatches(PyExc_BufferError))
                PyErr_SetString(PyExc_ValueError, "a buffer has gaps, or cannot be written to");
            clew_close(all);
            return -1;
        }
        all->open++;
        if (!is_of(view, kinds[at])) {
            PyErr_Format(PyExc_TypeError, "items of format '%c' were expected, not '%s' of %zd bytes", kinds[at],
                         view->format == NULL ? "B" : view->format, view->itemsize);
            clew_close(all);
            return -1;
        }
    }
    return 0;
}

void clew_close(clew_buffers *all)
{
    while (all->open > 0)
        PyBuffer_Release(&all->views[--all->open]);
}

static int add_functions(PyObject *module)
{
    PyMethodDef *const all[] = {clew_elementary_methods, clew_rows_methods, clew_text_methods};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (PyModule_AddFunctions(module, all[i]) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)add_functions},
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "clew.native._compiled", "Inner loops, compiled.", 0, NULL, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    return PyModuleDef_Init(&module);
}
