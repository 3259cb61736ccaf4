/* Loops over the characters of a text, compiled. The twins in clew/native/pure.py give the same; the tests hold the
   two against each other. The rules are those of compiled.h. */

#include "compiled.h"
#include <stdint.h>
#include <string.h>

#define BLANK 32
#define QUOTE 39
#define UNSURE 0xFFFE /* from here on a table's entry is not a character */

/* ---- words ---- */

/* Blank the apostrophes that are not part of an English ending, in place. The text begins and ends blank. */
static void unquote(uint16_t *text, Py_ssize_t length)
{
    Py_ssize_t last = -9; /* the apostrophe before this one */
    int kept = 0;         /* and whether it stays */
    for (Py_ssize_t at = 1; at < length - 1; at++) {
        if (text[at] != QUOTE)
            continue;
        uint16_t before = text[at - 1], one = text[at + 1];
        uint16_t two = text[at + 2 < length ? at + 2 : length - 1];
        uint16_t three = text[at + 3 < length ? at + 3 : length - 1];
        int keep = (one == 's' || one == 't' || one == 'd' || one == 'm') && (two == BLANK || two == QUOTE);
        if ((one == 'l' && two == 'l') || ((one == 'r' || one == 'v') && two == 'e'))
            keep |= three == BLANK || three == QUOTE;
        keep &= before != BLANK && last != at - 1;
        if (keep && kept && at - last <= 3) {
            /* An ending ends its word: what follows it after another apostrophe is a word of its own. */
            int apart = 0;
            for (Py_ssize_t i = last + 1; i < at; i++)
                apart |= text[i] == BLANK;
            keep = apart;
        }
        if (last >= 0 && !kept)
            text[last] = BLANK;
        last = at;
        kept = keep;
    }
    if (last >= 0 && !kept)
        text[last] = BLANK;
}

/* Turn each character by the table; gives the greatest that came out, and whether apostrophes did. */
#define LOOKING_UP(NAME, TYPE, TURNED)                                                                           \
    static uint16_t NAME(const TYPE *from, Py_ssize_t length, const uint16_t *table, uint16_t *to, int *quotes)  \
    {                                                                                                            \
        uint16_t most = 0;                                                                                       \
        for (Py_ssize_t i = 0; i < length; i++) {                                                                \
            uint16_t c = TURNED;                                                                                 \
            to[i] = c;                                                                                           \
            *quotes |= c == QUOTE;                                                                               \
            most = c > most ? c : most;                                                                          \
        }                                                                                                        \
        return most;                                                                                             \
    }

LOOKING_UP(look_up_1, Py_UCS1, table[from[i]])
LOOKING_UP(look_up_2, Py_UCS2, table[from[i]])
LOOKING_UP(look_up_4, Py_UCS4, from[i] < 0x10000 ? table[from[i]] : UNSURE)

/* Blank the lines of which some character is unsure; `to[i + 1]` came of character `i`. Adds where each begins
   and ends to a list; the greatest character of what is left, or -1 and an exception. */
static int blank_lines(PyObject *text, uint16_t *to, PyObject *lines)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int most = 0;
    Py_ssize_t begin = 0;
    while (begin <= length) {
        Py_ssize_t end = begin;
        int greatest = 0;
        for (; end < length && PyUnicode_READ(kind, data, end) != '\n'; end++)
            greatest = to[end + 1] > greatest ? to[end + 1] : greatest;
        if (greatest >= UNSURE) {
            for (Py_ssize_t i = begin; i < end; i++)
                to[i + 1] = BLANK;
            PyObject *line = Py_BuildValue("(nn)", begin, end);
            if (line == NULL || PyList_Append(lines, line) < 0) {
                Py_XDECREF(line);
                return -1;
            }
            Py_DECREF(line);
        }
        else
            most = greatest > most ? greatest : most;
        begin = end + 1;
    }
    return most;
}

/* Text of two bytes a character whose greatest is known. */
static PyObject *narrowed(const uint16_t *from, Py_ssize_t length, uint16_t most)
{
    if (most >= 256)
        return PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND, from, length);
    /* Finding out again how wide it must be costs as much as the rest. */
    PyObject *text = PyUnicode_New(length, most < 128 ? 127 : 255);
    if (text != NULL) {
        Py_UCS1 *to = PyUnicode_1BYTE_DATA(text);
        for (Py_ssize_t i = 0; i < length; i++)
            to[i] = (Py_UCS1)from[i];
    }
    return text;
}

PyDoc_STRVAR(flat_doc, "flat(text, table, lines): the folded words between blanks, and their number. Lines with "
                       "characters of which the table does not say what becomes of them are left blank, and where "
                       "they begin and end is added to a list.");

static PyObject *flat(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyUnicode_Check(args[0]) || !PyList_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "flat() takes a str, a table of 65,536 characters, and a list");
        return NULL;
    }
    if (PyUnicode_READY(args[0]) < 0)
        return NULL;
    clew_buffers all;
    if (clew_open(&all, args + 1, "H", -1) < 0)
        return NULL;
    if (all.views[0].len != 65536 * (Py_ssize_t)sizeof(uint16_t)) {
        clew_close(&all);
        PyErr_SetString(PyExc_ValueError, "flat() takes a table of 65,536 characters of two bytes");
        return NULL;
    }
    const uint16_t *table = all.views[0].buf;
    int kind = PyUnicode_KIND(args[0]);
    const void *data = PyUnicode_DATA(args[0]);
    Py_ssize_t length = PyUnicode_GET_LENGTH(args[0]), words = 0;
    uint16_t *out = length > PY_SSIZE_T_MAX / 4 ? NULL : PyMem_Malloc((size_t)(length + 2) * sizeof(uint16_t));
    if (out == NULL) {
        clew_close(&all);
        return PyErr_NoMemory();
    }
    int quotes = 0, most;
    out[0] = out[length + 1] = BLANK;
    if (kind == PyUnicode_1BYTE_KIND)
        most = look_up_1(data, length, table, out + 1, &quotes);
    else if (kind == PyUnicode_2BYTE_KIND)
        most = look_up_2(data, length, table, out + 1, &quotes);
    else
        most = look_up_4(data, length, table, out + 1, &quotes);
    clew_close(&all);
    if (most >= UNSURE && (most = blank_lines(args[0], out, args[2])) < 0) {
        PyMem_Free(out);
        return NULL;
    }
    if (quotes)
        unquote(out, length + 2);
    for (Py_ssize_t i = 1; i <= length; i++)
        words += (out[i] != BLANK) & (out[i - 1] == BLANK);
    PyObject *text = narrowed(out, length + 2, (uint16_t)most);
    PyMem_Free(out);
    return text == NULL ? NULL : Py_BuildValue("(Nn)", text, words);
}

/* ---- similarity ---- */

#define FIRST UINT64_C(0xBF58476D1CE4E5B9)
#define SECOND UINT64_C(0x94D049BB133111EB)
#define THIRD UINT64_C(0x9E3779B97F4A7C15)
#define SHINGLE 5
#define MOST_BITS 8

static inline uint64_t mixed(uint64_t value)
{
    value = (value ^ (value >> 30)) * FIRST;
    value = (value ^ (value >> 27)) * SECOND;
    return value ^ (value >> 31);
}

/* Eight bytes as a number, the first the least. */
static inline uint64_t eight(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
#ifdef WORDS_BIGENDIAN
    value = ((value & UINT64_C(0x00FF00FF00FF00FF)) << 8) | ((value >> 8) & UINT64_C(0x00FF00FF00FF00FF));
    value = ((value & UINT64_C(0x0000FFFF0000FFFF)) << 16) | ((value >> 16) & UINT64_C(0x0000FFFF0000FFFF));
    value = value << 32 | value >> 32;
#endif
    return value;
}

/* How many of eight bytes stand before the first that is zero; 8 when none is. */
static inline int before_zero(uint64_t value)
{
    /* A bit for each zero byte; one above a zero byte may be set by mistake, the lowest never. */
    uint64_t zeros = (value - UINT64_C(0x0101010101010101)) & ~value & UINT64_C(0x8080808080808080);
    if (!zeros)
        return 8;
#if defined(__GNUC__)
    return __builtin_ctzll(zeros) >> 3;
#else
    int count = 0;
    for (; !(zeros & 0x80); zeros >>= 8)
        count++;
    return count;
#endif
}

/* ASCII letters folded, digits and bytes of other characters kept, the rest zero; and eight zeros behind. */
static void letters_of(const unsigned char *from, Py_ssize_t length, unsigned char *to)
{
    for (Py_ssize_t i = 0; i < length; i++) {
        unsigned char c = from[i], folded = c | 32;
        unsigned char letter = (unsigned char)(folded - 'a') < 26, other = (unsigned char)(c - '0') < 10 || c >= 128;
        to[i] = letter ? folded : other ? c : 0;
    }
    memset(to + length, 0, 8);
}

/* One hash a word of letters between zeros, behind which stand eight more; gives their number. */
static Py_ssize_t hash_words(const unsigned char *letters, Py_ssize_t length, uint64_t *hashes)
{
    Py_ssize_t words = 0, at = 0;
    while (at < length) {
        if (!letters[at]) {
            at++;
            continue;
        }
        const unsigned char *word = letters + at;
        uint64_t head = eight(word);
        Py_ssize_t size = before_zero(head), more = size;
        while (more == 8) {
            more = before_zero(eight(word + size));
            size += more;
        }
        if (size < 8)
            head &= (UINT64_C(1) << (8 * size)) - 1;
        uint64_t value = head * THIRD;
        if (size > 8)
            value += eight(word + size - 8) * SECOND;
        hashes[words++] = mixed(value + (uint64_t)size);
        at += size;
    }
    return words;
}

/* The hash of up to five words from `words` on. */
static inline uint64_t shingle(const uint64_t *words, Py_ssize_t count)
{
    uint64_t value = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        value = value * THIRD + words[i];
    return mixed(value);
}

PyDoc_STRVAR(sketch_doc, "sketch(text, bits, fewest): a byte for each of 2**bits shares of the word fives of a text "
                         "in UTF-8, made of the least hash in it, 0 where there is none; b'' for fewer words.");

static PyObject *sketch(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *text;
    int bits;
    Py_ssize_t fewest;
    if (!PyArg_ParseTuple(arguments, "Sin", &text, &bits, &fewest))
        return NULL;
    if (bits < 1 || bits > MOST_BITS) {
        PyErr_SetString(PyExc_ValueError, "sketch() takes 1 to 8 bits");
        return NULL;
    }
    Py_ssize_t length = PyBytes_GET_SIZE(text);
    unsigned char *letters = PyMem_Malloc((size_t)length + 8);
    uint64_t *hashes = PyMem_Malloc((size_t)(length / 2 + 2) * sizeof(uint64_t));
    if (letters == NULL || hashes == NULL) {
        PyMem_Free(letters);
        PyMem_Free(hashes);
        return PyErr_NoMemory();
    }
    letters_of((const unsigned char *)PyBytes_AS_STRING(text), length, letters);
    Py_ssize_t words = hash_words(letters, length, hashes);
    PyMem_Free(letters);
    if (words < fewest || words == 0) {
        PyMem_Free(hashes);
        return PyBytes_FromStringAndSize("", 0);
    }
    int shares = 1 << bits;
    uint64_t least[1 << MOST_BITS];
    memset(least, 0xFF, (size_t)shares * sizeof(uint64_t));
    Py_ssize_t size = words < SHINGLE ? words : SHINGLE;
    for (Py_ssize_t i = 0; i + size <= words; i++) {
        uint64_t value = shingle(hashes + i, size);
        uint64_t share = value >> (64 - bits), rest = value & (UINT64_MAX >> bits);
        if (rest < least[share])
            least[share] = rest;
    }
    PyMem_Free(hashes);
    unsigned char bytes[1 << MOST_BITS];
    for (int i = 0; i < shares; i++)
        bytes[i] = least[i] == UINT64_MAX ? 0 : (unsigned char)(1 + least[i] % 255);
    return PyBytes_FromStringAndSize((const char *)bytes, shares);
}

PyMethodDef clew_text_methods[] = {
    {"flat", (PyCFunction)(void (*)(void))flat, METH_FASTCALL, flat_doc},
    {"sketch", sketch, METH_VARARGS, sketch_doc},
    {NULL, NULL, 0, NULL},
};
