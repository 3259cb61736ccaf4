/* Look-ups in texts, many at a time, compiled. What each gives is said, and also written, in Python: see
   clew/url/many.py, clew/parse/html/document.py, clew/predicate/link_estimate.py and clew/predicate/view.py. The tests
   hold the two against each other.

   Rules here: no global state, no pointer kept between calls, every index checked against a length taken from
   the object itself, and no borrowed object used after Python code may have run. */

#include "compiled.h"
#include <string.h>

#define BLANK 32

/* ---- links of a page ---- */

/* Where an href leads that begins at a directory of the page, if a page before had it: a new reference; NULL
   without an exception where nobody had it. `above` is the directory, its parent, and so on. */
static PyObject *below(PyObject *above, PyObject *href)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(href), count = PyTuple_GET_SIZE(above), begin = 0, ups = 0;
    int kind = PyUnicode_KIND(href);
    const void *data = PyUnicode_DATA(href);
    if (!length || !count)
        return NULL;
    Py_UCS4 first = PyUnicode_READ(kind, data, 0);
    if (first == '#')
        return NULL;
    if (first == '/') {
        ups = count - 1;
        begin = 1;
    }
    else
        while (begin + 3 <= length && PyUnicode_READ(kind, data, begin) == '.' &&
               PyUnicode_READ(kind, data, begin + 1) == '.' && PyUnicode_READ(kind, data, begin + 2) == '/') {
            ups++;
            begin += 3;
        }
    PyObject *folder = PyTuple_GET_ITEM(above, ups < count ? ups : count - 1);
    if (!PyDict_Check(folder)) {
        PyErr_SetString(PyExc_TypeError, "joined() takes directories as dicts");
        return NULL;
    }
    PyObject *rest = PyUnicode_Substring(href, begin, length);
    if (rest == NULL)
        return NULL;
    PyObject *found = Py_XNewRef(PyDict_GetItemWithError(folder, rest));
    Py_DECREF(rest);
    return found;
}

PyDoc_STRVAR(joined_doc, "joined(place, above, hrefs): place[href] for each href of a tuple; what is not in the place "
                         "yet is looked for in the directory it begins at, and kept, before the place is asked.");

static PyObject *joined(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyDict_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "joined() takes a dict, a tuple of dicts, and a tuple of hrefs");
        return NULL;
    }
    Py_ssize_t length = PyTuple_GET_SIZE(args[2]);
    PyObject *all = PyList_New(length);
    if (all == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *href = PyTuple_GET_ITEM(args[2], i);
        PyObject *found = Py_XNewRef(PyDict_GetItemWithError(args[0], href));
        if (found == NULL && !PyErr_Occurred() && PyUnicode_CheckExact(href) && PyUnicode_READY(href) == 0) {
            found = below(args[1], href);
            if (found != NULL && PyDict_SetItem(args[0], href, found) < 0)
                Py_CLEAR(found);
        }
        if (found == NULL && !PyErr_Occurred())
            found = PyObject_GetItem(args[0], href);
        if (found == NULL) {
            Py_DECREF(all);
            return NULL;
        }
        PyList_SET_ITEM(all, i, found);
    }
    return all;
}

/* ---- lines ---- */

/* Whether white space in a text is nothing but single blanks between words; 0 for a text beyond ASCII, too. */
static int in_order(PyObject *text)
{
    if (!PyUnicode_IS_ASCII(text))
        return 0;
    const Py_UCS1 *data = PyUnicode_1BYTE_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int blank = 1; /* as if one stood before the text */
    for (Py_ssize_t i = 0; i < length; i++) {
        if (data[i] > BLANK) {
            blank = 0;
            continue;
        }
        /* Controls that are no white space are in order, but rare enough to be left to Python. */
        if (data[i] != BLANK || blank)
            return 0;
        blank = 1;
    }
    return !blank || !length;
}

PyDoc_STRVAR(lines_doc, "lines(texts): of a list of texts those, by number, in which white space may be other than "
                        "single blanks between words.");

static PyObject *lines(PyObject *Py_UNUSED(module), PyObject *texts)
{
    if (!PyList_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "lines() takes a list");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(texts); i++) {
        PyObject *text = PyList_GET_ITEM(texts, i);
        if (!PyUnicode_Check(text) || PyUnicode_READY(text) < 0) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "lines() takes a list of texts");
            Py_CLEAR(found);
            break;
        }
        if (in_order(text))
            continue;
        PyObject *number = PyLong_FromSsize_t(i);
        if (number == NULL || PyList_Append(found, number) < 0)
            Py_CLEAR(found);
        Py_XDECREF(number);
    }
    return found;
}

/* ---- letters ---- */

#define MOST 256 /* letters sought at a time, all together */

typedef struct {
    Py_UCS1 letters[MOST];
    int starts[MOST + 1];
    int count;
    unsigned char first[256]; /* whether something sought begins with this letter, either case */
} Sought;

static int gather(PyObject *sought, Sought *all)
{
    int used = 0;
    memset(all, 0, sizeof *all);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sought); i++) {
        PyObject *one = PyTuple_GET_ITEM(sought, i);
        if (!PyUnicode_Check(one) || PyUnicode_READY(one) < 0 || !PyUnicode_IS_ASCII(one) ||
            !PyUnicode_GET_LENGTH(one) || PyUnicode_GET_LENGTH(one) > MOST - used) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "having() takes few and plain letters to look for");
            return -1;
        }
        const Py_UCS1 *data = PyUnicode_1BYTE_DATA(one);
        memcpy(all->letters + used, data, (size_t)PyUnicode_GET_LENGTH(one));
        used += (int)PyUnicode_GET_LENGTH(one);
        all->starts[++all->count] = used;
        all->first[data[0]] = 1;
        if (data[0] >= 'a' && data[0] <= 'z')
            all->first[data[0] - 32] = 1;
    }
    return 0;
}

static inline Py_UCS1 lower(Py_UCS1 c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static int has(const Py_UCS1 *text, Py_ssize_t length, const Sought *all)
{
    for (Py_ssize_t at = 0; at < length; at++) {
        if (!all->first[text[at]])
            continue;
        for (int i = 0; i < all->count; i++) {
            const Py_UCS1 *want = all->letters + all->starts[i];
            Py_ssize_t size = all->starts[i + 1] - all->starts[i], same = 0;
            if (size > length - at)
                continue;
            while (same < size && lower(text[at + same]) == want[same])
                same++;
            if (same == size)
                return 1;
        }
    }
    return 0;
}

PyDoc_STRVAR(having_doc, "having(texts, sought, beyond): of a tuple of texts those, by number, that have one of the "
                         "sought lower-case letters in any case; numbers of texts beyond ASCII are added to a list.");

static PyObject *having(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Sought all;
    if (count != 3 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]) || !PyList_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "having() takes a tuple of texts, a tuple of letters, and a list");
        return NULL;
    }
    if (gather(args[1], &all) < 0)
        return NULL;
    PyObject *found = PySet_New(NULL);
    for (Py_ssize_t i = 0; found != NULL && i < PyTuple_GET_SIZE(args[0]); i++) {
        PyObject *text = PyTuple_GET_ITEM(args[0], i);
        if (!PyUnicode_Check(text) || PyUnicode_READY(text) < 0) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "having() takes a tuple of texts");
            Py_CLEAR(found);
            break;
        }
        int plain = PyUnicode_IS_ASCII(text);
        if (plain && !has(PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text), &all))
            continue;
        PyObject *number = PyLong_FromSsize_t(i);
        if (number == NULL || (plain ? PySet_Add(found, number) : PyList_Append(args[2], number)) < 0)
            Py_CLEAR(found);
        Py_XDECREF(number);
    }
    return found;
}

/* ---- words ---- */

/* One more of a word in a dict of counts. */
static int count_in(PyObject *counts, const Py_UCS1 *word, Py_ssize_t length)
{
    PyObject *key = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, word, length);
    if (key == NULL)
        return -1;
    PyObject *known = PyDict_GetItemWithError(counts, key);
    long before = known == NULL ? 0 : PyLong_AsLong(known);
    PyObject *now = PyErr_Occurred() ? NULL : PyLong_FromLong(before + 1);
    int done = now == NULL ? -1 : PyDict_SetItem(counts, key, now);
    Py_XDECREF(now);
    Py_DECREF(key);
    return done;
}

PyDoc_STRVAR(beginning_doc, "beginning(flat, letters): the words that begin with some letters in a text of words "
                            "between blanks, and how often each occurs; None for characters of more than one byte.");

static PyObject *beginning(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyUnicode_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "beginning() takes two texts");
        return NULL;
    }
    if (PyUnicode_READY(args[0]) < 0 || PyUnicode_READY(args[1]) < 0)
        return NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(args[0]), size = PyUnicode_GET_LENGTH(args[1]);
    if (!size || PyUnicode_KIND(args[0]) != PyUnicode_1BYTE_KIND || PyUnicode_KIND(args[1]) != PyUnicode_1BYTE_KIND)
        Py_RETURN_NONE;
    const Py_UCS1 *text = PyUnicode_1BYTE_DATA(args[0]), *letters = PyUnicode_1BYTE_DATA(args[1]);
    PyObject *found = PyDict_New();
    Py_ssize_t at = 1; /* a word stands behind a blank */
    while (found != NULL && length - at >= size) {
        /* The first letter is rarer than the blank before it. */
        const Py_UCS1 *word = memchr(text + at, letters[0], (size_t)(length - at - size + 1));
        if (word == NULL)
            break;
        at = word - text + 1;
        if (word[-1] != BLANK || memcmp(word, letters, (size_t)size) != 0)
            continue;
        const Py_UCS1 *end = memchr(word, BLANK, (size_t)(text + length - word));
        if (end == NULL)
            end = text + length;
        if (count_in(found, word, end - word) < 0)
            Py_CLEAR(found);
        at = end - text;
    }
    return found;
}

PyMethodDef clew_lookup_methods[] = {
    {"beginning", (PyCFunction)(void (*)(void))beginning, METH_FASTCALL, beginning_doc},
    {"having", (PyCFunction)(void (*)(void))having, METH_FASTCALL, having_doc},
    {"joined", (PyCFunction)(void (*)(void))joined, METH_FASTCALL, joined_doc},
    {"lines", lines, METH_O, lines_doc},
    {NULL, NULL, 0, NULL},
};
