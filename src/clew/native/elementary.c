/* exp, log and their kin from additions, multiplications and divisions alone, compiled.

   Those of a C library or of numpy differ in the last bit from one processor to the next (with or without fused
   multiplication, AVX-512), and a last bit can decide which of two candidates is fetched. IEEE 754 fixes every
   operation used here, so these give the same bits everywhere, and the same as their twins in Python. That holds
   only while the compiler fuses nothing: setup.py tells it so. The rules are those of compiled.h. */

#include "compiled.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#define LN2 0x1.62e42fefa39efp-1
#define LN2_HIGH 0x1.62e42fep-1 /* 28 bits: its product with an exponent is exact */
#define LN2_LOW 0x1.f473de6af278fp-30
#define LOG2_E 0x1.71547652b82fep+0
#define WHOLE 0x1.8p52 /* what is added to it and taken away again comes out rounded */
#define ROOT_HALF 0x1.6a09e667f3bcdp-1

static inline double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/* 2 to a power between -1022 and 1023. */
static inline double power(int64_t exponent)
{
    return of_bits((uint64_t)(exponent + 1023) << 52);
}

static inline double exp_of(double x)
{
    /* Beyond these the answer is 0 or infinite; what is not a number fails both tests and stays what it is. */
    const double held = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;
    const double k = (held * LOG2_E + WHOLE) - WHOLE;
    const double r = (held - k * LN2_HIGH) - k * LN2_LOW;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = 1.0 + (r + r * r * p);
    if (!(k >= -1100.0)) /* not a number */
        return x;
    /* In two steps, of which the first is exact: neither 2 ** 1024 nor 2 ** -1074 is a normal number. */
    const int64_t whole = (int64_t)k, half = whole / 2;
    return p * power(half) * power(whole - half);
}

/* log(1 + f) for f between sqrt(1/2) - 1 and sqrt(2) - 1, where 1 + f need not be a number. */
static inline double log_near(double f)
{
    /* With s = f / (2 + f), log(1 + f) is 2 atanh(s); written so that f itself, which is exact, weighs most. */
    const double s = f / (2.0 + f), z = s * s, square = 0.5 * f * f;
    double r = 2.0 / 23.0;
    r = r * z + 2.0 / 21.0;
    r = r * z + 2.0 / 19.0;
    r = r * z + 2.0 / 17.0;
    r = r * z + 2.0 / 15.0;
    r = r * z + 2.0 / 13.0;
    r = r * z + 2.0 / 11.0;
    r = r * z + 2.0 / 9.0;
    r = r * z + 2.0 / 7.0;
    r = r * z + 2.0 / 5.0;
    r = r * z + 2.0 / 3.0;
    return f - (square - s * (square + r * z));
}

static inline double log_of(double x)
{
    if (!(x > 0.0) || x > 0x1.fffffffffffffp1023)
        return x == 0.0 ? -INFINITY : x > 0.0 ? x : NAN;
    const int tiny = x < 0x1p-1022;
    const int64_t bits = (int64_t)bits_of(tiny ? x * 0x1p54 : x), root = (int64_t)bits_of(ROOT_HALF);
    /* The exponent for which what is left lies between sqrt(1/2) and sqrt(2). */
    const int64_t exponent = (bits - root) >> 52;
    const double m = of_bits((uint64_t)(bits - exponent * (INT64_C(1) << 52)));
    const double k = (double)(exponent - (tiny ? 54 : 0));
    return k * LN2_HIGH + (log_near(m - 1.0) + k * LN2_LOW);
}

static inline double log1p_of(double x)
{
    if (x > -0.25 && x < 0.375)
        return log_near(x);
    const double one = 1.0 + x, found = log_of(one);
    /* What was lost in adding 1; nothing where the logarithm has no bounds, or the sum none. */
    return x > -1.0 && x < 0x1p60 ? found + (x - (one - 1.0)) / one : found;
}

static inline double tanh_of(double x)
{
    const double e = exp_of(-2.0 * fabs(x)), found = (1.0 - e) / (1.0 + e);
    return x < 0.0 ? -found : found;
}

static inline double logaddexp_of(double a, double b)
{
    if (a == b) /* both infinite, too */
        return a + LN2;
    const double gap = a - b;
    return gap > 0.0 ? a + log1p_of(exp_of(-gap)) : gap <= 0.0 ? b + log1p_of(exp_of(gap)) : gap;
}

/* NAME(x, found) works on arrays, NAME_of(x) on one number. */
#define ONE_ARGUMENT(NAME)                                                                                       \
    static PyObject *NAME##_array(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)          \
    {                                                                                                            \
        clew_buffers all;                                                                                        \
        if (count != 2) {                                                                                        \
            PyErr_SetString(PyExc_TypeError, #NAME "() takes numbers and where to write");                       \
            return NULL;                                                                                         \
        }                                                                                                        \
        if (clew_open(&all, args, "dd", 1) < 0)                                                                  \
            return NULL;                                                                                         \
        const double *x = all.views[0].buf;                                                                      \
        double *found = all.views[1].buf;                                                                        \
        const Py_ssize_t size = all.views[0].len / 8, same = all.views[0].len == all.views[1].len;               \
        for (Py_ssize_t i = 0; i < size && same; i++)                                                            \
            found[i] = NAME##_of(x[i]);                                                                          \
        clew_close(&all);                                                                                        \
        if (!same) {                                                                                             \
            PyErr_SetString(PyExc_ValueError, "one answer for each number was expected");                        \
            return NULL;                                                                                         \
        }                                                                                                        \
        Py_RETURN_NONE;                                                                                          \
    }                                                                                                            \
    static PyObject *NAME##_number(PyObject *Py_UNUSED(module), PyObject *given)                                 \
    {                                                                                                            \
        const double x = PyFloat_AsDouble(given);                                                                \
        return x == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(NAME##_of(x));                          \
    }

ONE_ARGUMENT(exp)
ONE_ARGUMENT(log)
ONE_ARGUMENT(log1p)
ONE_ARGUMENT(tanh)

static PyObject *logaddexp_array(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    clew_buffers all;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "logaddexp() takes numbers, numbers and where to write");
        return NULL;
    }
    if (clew_open(&all, args, "ddd", 2) < 0)
        return NULL;
    const double *a = all.views[0].buf, *b = all.views[1].buf;
    double *found = all.views[2].buf;
    const Py_ssize_t size = all.views[0].len;
    const int same = size == all.views[1].len && size == all.views[2].len;
    for (Py_ssize_t i = 0; i < size / 8 && same; i++)
        found[i] = logaddexp_of(a[i], b[i]);
    clew_close(&all);
    if (!same) {
        PyErr_SetString(PyExc_ValueError, "one answer for each pair of numbers was expected");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef clew_elementary_methods[] = {
    {"exp", (PyCFunction)(void (*)(void))exp_array, METH_FASTCALL, "exp(x, found): e to the power of each."},
    {"log", (PyCFunction)(void (*)(void))log_array, METH_FASTCALL, "log(x, found): the natural logarithm of each."},
    {"log1p", (PyCFunction)(void (*)(void))log1p_array, METH_FASTCALL, "log1p(x, found): log(1 + x) of each."},
    {"tanh", (PyCFunction)(void (*)(void))tanh_array, METH_FASTCALL, "tanh(x, found): the hyperbolic tangent of each."},
    {"logaddexp", (PyCFunction)(void (*)(void))logaddexp_array, METH_FASTCALL,
     "logaddexp(a, b, found): log(e^a + e^b) of each pair."},
    {"exp_of", exp_number, METH_O, "exp_of(x): e to the power of one number."},
    {"log_of", log_number, METH_O, "log_of(x): the natural logarithm of one number."},
    {"log1p_of", log1p_number, METH_O, "log1p_of(x): log(1 + x) of one number."},
    {"tanh_of", tanh_number, METH_O, "tanh_of(x): the hyperbolic tangent of one number."},
    {NULL, NULL, 0, NULL},
};
