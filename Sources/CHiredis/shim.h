// Debian installs the headers of hiredis in a folder of their own.
#ifndef REEL_CHIREDIS_SHIM_H
#define REEL_CHIREDIS_SHIM_H
#include <hiredis/hiredis.h>
#endif
