#ifndef CSERVERPAGES_H
#define CSERVERPAGES_H

#include <stddef.h>

// A file of Sources/ReelServer/Pages.
struct server_page {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

// All files, sorted by name; one without a name comes last.
const struct server_page *server_pages(void);

#endif
