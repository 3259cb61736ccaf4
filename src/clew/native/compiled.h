/* What the files of the extension share: the functions that each has to offer.

   Rules of all of them: no global state, no pointer kept between calls, every index checked against a length taken
   from the object itself, every buffer against its format, and nothing returned but fresh Python objects. */

#ifndef CLEW_COMPILED_H
#define CLEW_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef clew_elementary_methods[]; /* elementary.c: exp, log and their kin */
extern PyMethodDef clew_lookup_methods[];     /* lookup.c: look-ups in texts, many at a time */
extern PyMethodDef clew_rows_methods[];       /* rows.c: loops over rows of numbers and hashes */
extern PyMethodDef clew_sparse_methods[];     /* sparse.c: a loop over a sparse matrix */
extern PyMethodDef clew_text_methods[];       /* text.c: loops over the characters of a text */

#endif
