// Loaded before a program (LD_PRELOAD), it makes the program's machine a sick one: `struct sickness`, which REEL_SICKNESS
// names and a test changes at any time, says how. Everything else goes to the kernel as it is.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct sickness {
    /// Seconds by which the wall clock is ahead.
    int64_t clock;
    /// The error of every write below REEL_STORE; 0 for none.
    int64_t refusal;
    /// Not 0: making a link succeeds and still reports EEXIST, as with a file server that got the request twice.
    int64_t repeats;
    /// Not 0: opening a file below REEL_STORE does not return before this is 0 again, as with a file server that is away.
    int64_t hang;
    /// N, not 0: the program is killed before its Nth call that other processes can see, by which a file gets its name or a
    /// socket gets bytes. Engines are not killed.
    int64_t death;
};

static volatile const struct sickness *sickness;
static const char *store;
/// An engine crashes if it opens a file whose path ends with this.
static const char *fatal;

/// A variable of this name, or of `inherited` in an engine, which gets only variables that begin like that. A worker
/// passes it on under that name.
static const char *variable(const char *name, const char *inherited) {
    const char *value = getenv(name) ? getenv(name) : getenv(inherited);
    if (value) setenv(inherited, value, 1);
    return value;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = variable("REEL_SICKNESS", "LD_SICKNESS");
    int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof(struct sickness), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    store = variable("REEL_STORE", "LD_SICKNESS_STORE");
    fatal = variable("REEL_SICKNESS_FATAL", "LD_SICKNESS_FATAL");
    sickness = shared;
}

// Clocks

static int64_t ahead(clockid_t clock) {
    return sickness && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) ? sickness->clock : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0) time->tv_sec += ahead(clock);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += ahead(CLOCK_REALTIME);
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// Disks

static int is_in_store(const char *path) {
    return sickness && store && strncmp(path, store, strlen(store)) == 0;
}

/// The error of writing to a file; 0 if it is allowed.
static int refusal(const char *path) { return is_in_store(path) ? sickness->refusal : 0; }

static int refusal_at(int file) {
    struct stat status;
    if (!sickness || !sickness->refusal || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    char link[64] = "/proc/self/fd/", path[4096];
    char digits[16], *digit = digits + sizeof digits - 1;
    for (*digit = 0; file > 0 || !*digit; file /= 10) *--digit = '0' + file % 10;
    strcat(link, digit);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return refusal(path);
}

static int is_engine(void) {
    static const char engine[] = "reel-engine";
    char name[32] = "";
    int file = syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t count = read(file, name, sizeof engine - 1);
    close(file);
    return count == sizeof engine - 1 && memcmp(name, engine, count) == 0;
}

static void die_of(const char *path) {
    size_t length = fatal ? strlen(fatal) : 0, whole = strlen(path);
    if (!length || whole < length || strcmp(path + whole - length, fatal) != 0) return;
    if (is_engine()) raise(SIGSEGV);
}

/// Counts a call that others can see the effect of.
static void step(void) {
    static int64_t steps;
    if (!sickness || !sickness->death || is_engine()) return;
    if (__atomic_add_fetch(&steps, 1, __ATOMIC_SEQ_CST) == sickness->death) kill(getpid(), SIGKILL);
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    die_of(path);
    while (is_in_store(path) && sickness->hang) usleep(10000);
    if (flags & O_CREAT && refusal(path)) {
        errno = refusal(path);
        return -1;
    }
    return syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return open_at(folder, path, flags, mode);
}

static int is_socket(int file) {
    struct stat status;
    return sickness && sickness->death && fstat(file, &status) == 0 && S_ISSOCK(status.st_mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
    int refused = refusal_at(file);
    if (is_socket(file)) step();
    if (refused) {
        errno = refused;
        return -1;
    }
    return syscall(SYS_write, file, bytes, count);
}

int rename(const char *path, const char *name) {
    step();
    return syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, name);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
    step();
    int result = syscall(SYS_linkat, from, path, to, name, flags);
    if (result == 0 && sickness && sickness->repeats) {
        errno = EEXIST;
        return -1;
    }
    return result;
}

int mkdir(const char *path, mode_t mode) {
    if (refusal(path)) {
        errno = refusal(path);
        return -1;
    }
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
