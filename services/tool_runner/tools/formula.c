/* sum = product { (+|-) product }        power = atom [ ^ sign ]        (to the right)
 * product = sign { (*|/|%) sign }        atom = number | name | name ( sum { , sum } ) | ( sum )
 * sign = (+|-) sign | power */
#include "formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 8
#define ARGUMENTS_MAX  16

struct formula {
    const char *start, *at;
    unsigned depth;
    struct status *st;
};

static double sum(struct formula *in);
static double formula_sign(struct formula *in);

static bool formula_failed(const struct formula *in)
{
    return in->st->code != OK;
}

static double formula_wrong(struct formula *in, const char *what)
{
    if (!formula_failed(in))
        fail(in->st, INVALID_ARGUMENT, "character %zu of the expression: %s", (size_t)(in->at - in->start) + 1, what);
    return 0;
}

static char formula_peek(struct formula *in)
{
    in->at += strspn(in->at, " \t\r\n");
    return *in->at;
}

static bool formula_take(struct formula *in, char c)
{
    if (formula_peek(in) != c)
        return false;
    in->at++;
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static double formula_least(const double *values, unsigned count)
{
    double result = values[0];
    for (unsigned i = 1; i < count; i++)
        result = fmin(result, values[i]);
    return result;
}

static double formula_most(const double *values, unsigned count)
{
    double result = values[0];
    for (unsigned i = 1; i < count; i++)
        result = fmax(result, values[i]);
    return result;
}

static double rounded(const double *values, unsigned count)
{
    double scale = count > 1 ? pow(10, fmin(fmax(trunc(values[1]), -15), 15)) : 1;
    return round(values[0] * scale) / scale;
}

static const struct {
    const char *name;
    unsigned least, most;
    double (*one)(double value);
    double (*many)(const double *values, unsigned count);
} functions[] = {
    {"abs", 1, 1, fabs, NULL},
    {"sqrt", 1, 1, sqrt, NULL},
    {"exp", 1, 1, exp, NULL},
    {"ln", 1, 1, log, NULL},
    {"log10", 1, 1, log10, NULL},
    {"log2", 1, 1, log2, NULL},
    {"sin", 1, 1, sin, NULL},
    {"cos", 1, 1, cos, NULL},
    {"tan", 1, 1, tan, NULL},
    {"floor", 1, 1, floor, NULL},
    {"ceil", 1, 1, ceil, NULL},
    {"round", 1, 2, NULL, rounded},
    {"min", 1, ARGUMENTS_MAX, NULL, formula_least},
    {"max", 1, ARGUMENTS_MAX, NULL, formula_most},
};

static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};

static double formula_call(struct formula *in, size_t f)
{
    double values[ARGUMENTS_MAX];
    unsigned count = 0;
    do {
        if (count == functions[f].most)
            return formula_wrong(in, "this function takes fewer values");
        values[count++] = sum(in);
    } while (!formula_failed(in) && formula_take(in, ','));
    if (count < functions[f].least || !formula_take(in, ')'))
        return formula_wrong(in, "a ',' or a ')' is missing here");
    return functions[f].one ? functions[f].one(values[0]) : functions[f].many(values, count);
}

static double named(struct formula *in)
{
    char name[NAME_MAX_BYTES + 1];
    size_t length = 0;
    while (isalnum((unsigned char)in->at[length]))
        length++;
    if (!length || length > NAME_MAX_BYTES)
        return formula_wrong(in, "a number, a '(' or a function is wanted here");
    memcpy(name, in->at, length);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        if (strcmp(constants[i].name, name) == 0) {
            in->at += length;
            return constants[i].value;
        }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0) {
            in->at += length;
            return formula_take(in, '(') ? formula_call(in, i) : formula_wrong(in, "a '(' is wanted behind a function");
        }
    return formula_wrong(
        in, "this name is not known; abs, sqrt, exp, ln, log10, log2, sin, cos, tan, floor, ceil, round, min, "
            "max, pi and e are");
}

/* ---- numbers and operators --------------------------------------------------------------------------------------- */

/* Digits with a point and an exponent: no hexadecimal, no "inf", no commas of the thousands. */
static double formula_number(struct formula *in)
{
    const char *at = in->at;
    char *end;
    at += strspn(at, "0123456789");
    if (*at == '.')
        at += 1 + strspn(at + 1, "0123456789");
    if ((*at == 'e' || *at == 'E') &&
        (isdigit((unsigned char)at[1]) || ((at[1] == '+' || at[1] == '-') && isdigit((unsigned char)at[2]))))
        at += 2 + strspn(at + 2, "0123456789");
    double value = strtod(in->at, &end);
    if (end != at)
        return formula_wrong(in, "this is no decimal number");
    in->at = at;
    return value;
}

static double atom(struct formula *in)
{
    char c = formula_peek(in);
    if (isdigit((unsigned char)c) || c == '.')
        return formula_number(in);
    if (!formula_take(in, '('))
        return named(in);
    double value = sum(in);
    return formula_take(in, ')') ? value : formula_wrong(in, "a ')' is missing here");
}

static double power(struct formula *in)
{
    double value = atom(in);
    if (!formula_failed(in) && formula_take(in, '^'))
        value = pow(value, formula_sign(in));
    return value;
}

static double formula_sign(struct formula *in)
{
    double value;
    if (++in->depth > FORMULA_DEPTH_MAX)
        return formula_wrong(in, "the expression goes too deep");
    if (formula_take(in, '-'))
        value = -formula_sign(in);
    else
        value = formula_take(in, '+') ? formula_sign(in) : power(in);
    in->depth--;
    return value;
}

static double product(struct formula *in)
{
    double value = formula_sign(in);
    while (!formula_failed(in)) {
        if (formula_take(in, '*'))
            value *= formula_sign(in);
        else if (formula_take(in, '/'))
            value /= formula_sign(in);
        else if (formula_take(in, '%'))
            value = fmod(value, formula_sign(in));
        else
            break;
    }
    return value;
}

static double sum(struct formula *in)
{
    double value = product(in);
    while (!formula_failed(in)) {
        if (formula_take(in, '+'))
            value += product(in);
        else if (formula_take(in, '-'))
            value -= product(in);
        else
            break;
    }
    return value;
}

bool formula_value(const char *text, double *value, struct status *st)
{
    struct formula in = {.start = text, .at = text, .st = st};
    if (strlen(text) > FORMULA_MAX)
        return fail(st, INVALID_ARGUMENT, "the expression has more than %d bytes", FORMULA_MAX);
    *value = sum(&in);
    if (!formula_failed(&in) && formula_peek(&in) != '\0')
        formula_wrong(&in, "an operator is wanted here; put '*' between factors, and no commas into numbers");
    if (formula_failed(&in))
        return false;
    return isfinite(*value) || fail(st, INVALID_ARGUMENT,
                                    "the result is no finite number: a division by zero, the root of "
                                    "a negative number, or more than 1.8e308");
}
