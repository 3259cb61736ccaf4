/* The extension clew.native._compiled: the functions of all the files beside this one. */

#include "compiled.h"

static int add_functions(PyObject *module)
{
    PyMethodDef *const all[] = {clew_elementary_methods, clew_lookup_methods, clew_rows_methods, clew_sparse_methods,
                                clew_text_methods};
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
