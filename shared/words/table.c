#include "words/table.h"

#include <string.h>

#include "words/sentences_priv.h"

bool table_is_row(struct claim line)
{
    return line.length > 0 && line.text[0] == '|';
}

bool table_is_rule(struct claim line)
{
    size_t dashes = 0;
    for (size_t i = 0; i < line.length; i++) {
        if (!strchr("|-: \t", line.text[i]) || line.text[i] == '\0')
            return false;
        dashes += line.text[i] == '-';
    }
    return dashes > 0;
}

bool table_next_cell(struct claim row, size_t *at, struct claim *cell)
{
    size_t begin = *at, end;
    if (begin < row.length && row.text[begin] == '|')
        begin++;
    while (begin < row.length && is_blank(row.text[begin]))
        begin++;
    for (end = begin; end < row.length && row.text[end] != '|'; end++)
        end += row.text[end] == '\\' && end + 1 < row.length;
    *at = end;
    if (begin >= row.length)
        return false;
    while (end > begin && is_blank(row.text[end - 1]))
        end--;
    *cell = (struct claim){row.text + begin, end - begin};
    return true;
}
