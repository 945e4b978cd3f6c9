// System calls that glibc has no function for, or one with a variable number of arguments, which Swift does not import.
// Each function returns -1 and sets errno if the kernel refuses.
#ifndef REEL_CSANDBOX_SHIM_H
#define REEL_CSANDBOX_SHIM_H

#include <linux/capability.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// As in linux/landlock.h, whose older versions lack the last two fields. The numbers are those of all architectures.
struct reel_landlock_ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

struct reel_landlock_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static inline long reel_landlock_version(void) { return syscall(444, NULL, 0, 1); }

/// A kernel refuses a set with more bytes than it knows, unless the rest is zero.
static inline int reel_landlock_create(const struct reel_landlock_ruleset *rules) {
    return (int)syscall(444, rules, sizeof *rules, 0);
}

static inline int reel_landlock_allow(int rules, int parent, uint64_t allowed) {
    struct reel_landlock_beneath rule = {allowed, parent};
    return (int)syscall(445, rules, 1, &rule, 0);
}

static inline int reel_landlock_restrict(int rules) { return (int)syscall(446, rules, 0); }

/// Of all threads.
static inline int reel_filter_calls(const struct sock_filter *program, unsigned short count) {
    struct sock_fprog code = {count, (struct sock_filter *)program};
#if defined(__x86_64__)
    return (int)syscall(317, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &code);
#elif defined(__aarch64__)
    return (int)syscall(277, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &code);
#else
    return -1;
#endif
}

static inline int reel_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/// Gives up root's powers but those over the permissions of files, without which it cannot read its users' videos, nor write
/// in their folders. A process without powers has none after it.
static inline int reel_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[2];
#if defined(__x86_64__)
    const long get = 125, set = 126;
#else
    const long get = 90, set = 91;
#endif
    if (syscall(get, &header, held) < 0) return -1;
    const uint32_t kept[2] = {1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH, 0};
    for (int i = 0; i < 2; i++) {
        held[i].permitted &= kept[i];
        held[i].effective = held[i].permitted;
        held[i].inheritable = 0;
    }
    return (int)syscall(set, &header, held);
}

/// Closes /proc/PID/mem, environ and the like of this process to others of its user.
static inline int reel_close_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Makes this process the parent of its descendants whose own parents end.
static inline int reel_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/// Gives back the room of a part of a file, which then reads as zeros. Fails where the file system has no holes.
static inline int reel_punch_hole(int file, int64_t offset, int64_t length) {
    return (int)syscall(SYS_fallocate, file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, length);
}

/// Returns freed memory that heaps have kept to the kernel.
static inline void reel_return_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#endif
