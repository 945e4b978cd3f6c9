// Loaded before a program (LD_PRELOAD), it makes the program's user one that may not raise priorities, as a service's user is,
// and shows on standard error what the program says to the system's log.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <syslog.h>

int setpriority(__priority_which_t which, id_t who, int nice) {
    if (nice >= 0) return 0;
    errno = EACCES;
    return -1;
}

void vsyslog(int priority, const char *format, va_list list) {
    fputs("to the system's log: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
}

void syslog(int priority, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsyslog(priority, format, list);
    va_end(list);
}
