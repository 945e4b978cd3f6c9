// What an attacker would try who has taken over an engine. Each function returns 0 if the kernel let it, else errno.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int outcome(long result) { return result < 0 ? errno : 0; }

static inline int attack_read(const char *path) {
    char byte;
    int file = open(path, O_RDONLY);
    return file < 0 ? errno : outcome(read(file, &byte, 1));
}

static inline int attack_list(const char *path) { return outcome(open(path, O_RDONLY | O_DIRECTORY)); }

static inline int attack_write(const char *path) { return outcome(open(path, O_WRONLY | O_CREAT, 0666)); }

static inline int attack_link(const char *path, const char *name) {
    return outcome(syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0L));
}

static inline int attack_symlink(const char *path, const char *name) {
    return outcome(syscall(SYS_symlinkat, path, AT_FDCWD, name));
}

static inline int attack_rename(const char *path, const char *name) { return outcome(rename(path, name)); }

static inline int attack_mode(const char *path) { return outcome(chmod(path, 0666)); }

// Makes a file that runs with the rights of this user.
static inline int attack_setuid(const char *path) {
    struct stat status;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL, 04755);
    if (file < 0 || fstat(file, &status) < 0) return errno;
    return status.st_mode & S_ISUID ? 0 : EPERM;
}

static inline int attack_truncate(const char *path) { return outcome(truncate(path, 1)); }

static inline int attack_tcp(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int made = socket(AF_INET, SOCK_STREAM, 0);
    return made < 0 ? errno : outcome(connect(made, (struct sockaddr *)&to, sizeof to));
}

static inline int attack_udp(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int made = socket(AF_INET, SOCK_DGRAM, 0);
    return made < 0 ? errno : outcome(sendto(made, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
}

// An abstract name begins with '@' here.
static inline int attack_unix(const char *name) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, name, sizeof to.sun_path - 1);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    if (name[0] == '@') to.sun_path[0] = 0;
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    return made < 0 ? errno : outcome(connect(made, (struct sockaddr *)&to, length));
}

// Becomes a program that answers like an engine, in the shell.
static inline int attack_exec(const char *script) {
    char *const arguments[] = {"sh", "-c", (char *)script, NULL}, *const environment[] = {NULL};
    return outcome(execve("/bin/sh", arguments, environment));
}

static inline int attack_fork(void) {
    long child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0) _exit(0);
    if (child < 0) return errno;
    return outcome(waitpid((pid_t)child, NULL, 0));
}

// A child in a session of its own that writes its number into a descriptor, and outlives its parent.
static inline int attack_outlive(int numbers) {
    long child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child < 0) return errno;
    if (child > 0) return outcome(waitpid((pid_t)child, NULL, 0));
    setsid();
    if (syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L) != 0) _exit(0);
    pid_t own = getpid();
    if (write(numbers, &own, sizeof own) < 0) _exit(1);
    for (;;) pause();
}

// PTRACE_SEIZE does not stop the victim, and its tracer's end sets it free.
static inline int attack_trace(int process) { return outcome(ptrace(0x4206, process, NULL, NULL)); }

static inline int attack_memory(int process, size_t address) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)address, 1};
    return outcome(syscall(SYS_process_vm_readv, process, &here, 1L, &there, 1L, 0L));
}

static inline int attack_signal(int process) { return outcome(kill(process, SIGCONT)); }

static inline int attack_owner(int process) { return outcome(fcntl(STDIN_FILENO, F_SETOWN, process)); }

static inline int attack_code(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? errno : 0;
}

static inline int attack_protect(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return outcome(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static inline int attack_namespace(void) { return outcome(syscall(SYS_unshare, 0x10000000)); }

static inline int attack_ring(void) {
    char parameters[256] = {0};
    return outcome(syscall(SYS_io_uring_setup, 1, parameters));
}

static inline int attack_key(void) { return outcome(syscall(SYS_keyctl, 0, -3, 1)); }

// Locked twice, it never opens: the sandbox has no pause().
static pthread_mutex_t attack_gate = PTHREAD_MUTEX_INITIALIZER;

static inline void *attack_sleep(void *nothing) {
    pthread_mutex_lock(&attack_gate);
    return nothing;
}

// Does not return if it could make them all.
static inline int attack_threads(int count) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    pthread_mutex_lock(&attack_gate);
    pthread_t thread;
    while (count-- > 0) {
        int refusal = pthread_create(&thread, &small, attack_sleep, NULL);
        if (refusal != 0) return refusal;
    }
    pthread_mutex_lock(&attack_gate);
    return 0;
}

// CAP_IPC_LOCK lets a process hold any amount of memory.
static inline int attack_lock(void) {
    static char memory[1 << 20];
    return outcome(mlock(memory, sizeof memory));
}

static inline int attack_limit(void) {
    struct rlimit limit = {64, 64};
    return outcome(setrlimit(RLIMIT_NOFILE, &limit));
}

// Has the kernel answer this thread's calls of openat2 with ENOSYS from now on, as systemd does in a unit with
// RestrictSUIDSGID=.
static inline int refuse_openat2(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 437, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
    return outcome(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
