/* Prints the estimate of each text that stands on stdin, separated by NUL: for tokens.mjs. */
#include "admission/tokens.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *text = NULL;
    size_t room = 0;
    for (ssize_t size; (size = getdelim(&text, &room, '\0', stdin)) > 0;) {
        size_t length = (size_t)size - (text[size - 1] == '\0');
        printf("%" PRId64 "\n", tokens_of_text(text, length));
    }
    free(text);
}
