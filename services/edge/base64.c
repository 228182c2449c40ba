#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        *text++ = digits[three >> 18];
        *text++ = digits[three >> 12 & 63];
        *text++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *text++ = left > 2 ? digits[three & 63] : '=';
    }
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool base64_decode(const char *text, size_t length, uint8_t *bytes, size_t *size)
{
    size_t padding = 0;
    while (length && padding < 2 && text[length - 1] == '=') {
        length--;
        padding++;
    }
    if (length % 4 == 1 || (padding && (length + padding) % 4 != 0))
        return false;
    uint32_t sum = 0;
    *size = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return false;
        sum = sum << 6 | (uint32_t)digit;
        if (i % 4 == 0)
            continue;
        unsigned rest = (unsigned)(3 - i % 4) * 2; /* bits that are not yet a byte */
        bytes[(*size)++] = (uint8_t)(sum >> rest);
    }
    return true;
}
