#include "base/thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>

void thread_name(const char *format, ...)
{
    char name[16];
    va_list values;
    va_start(values, format);
    vsnprintf(name, sizeof name, format, values);
    va_end(values);
    prctl(PR_SET_NAME, name);
}
