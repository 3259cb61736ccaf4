/* What the files of the extension share: the functions that each has to offer, and the buffers they are given.

   Rules of all of them: no global state, no pointer kept between calls, every index checked against a length taken
   from the object itself, every buffer opened by `clew_open`, which checks its format, and nothing returned but
   fresh Python objects. Buffers of the wrong kind are a TypeError, of the wrong length a ValueError, and a number
   in them that points nowhere is an IndexError. */

#ifndef CLEW_COMPILED_H
#define CLEW_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define CLEW_MOST_BUFFERS 5

typedef struct {
    Py_buffer views[CLEW_MOST_BUFFERS];
    int open;
} clew_buffers;

/* Open a buffer of each argument; `kinds` has a letter for each: d, q, i, Q, H or B for items that are double,
   int64, int32, uint64, uint16 or uint8, in the machine's own order and alignment, end to end. The one with number `writable`
   (-1 for none) can be written to. 0, or -1 with an exception and nothing left open. */
int clew_open(clew_buffers *all, PyObject *const *args, const char *kinds, int writable);
void clew_close(clew_buffers *all);

extern PyMethodDef clew_elementary_methods[]; /* elementary.c: exp, log and their kin */
extern PyMethodDef clew_rows_methods[];       /* rows.c: loops over rows of numbers and hashes */
extern PyMethodDef clew_text_methods[];       /* text.c: loops over the characters of a text */

#endif
