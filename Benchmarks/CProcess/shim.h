#pragma once

#include <sys/prctl.h>
// A device's numbers, which Swift's Glibc leaves out.
#include <sys/sysmacros.h>

/// Makes the calling process the parent of all descendants whose own parents end; 0 if that worked. Swift does not
/// import what takes a variable number of arguments.
static inline int reel_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
