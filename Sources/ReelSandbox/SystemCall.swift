/// A call of the kernel by its number on each architecture; nil if the architecture has none.
package struct SystemCall: Hashable, Sendable {
    package let name: String
    package let x86: UInt32?
    package let arm: UInt32?

    init(_ name: String, _ x86: UInt32?, _ arm: UInt32?) {
        self.name = name
        self.x86 = x86
        self.arm = arm
    }

    package static let clone = SystemCall("clone", 56, 220)
    package static let open = SystemCall("openat", 257, 56)
    package static let rename = SystemCall("renameat2", 316, 276)
    package static let map = SystemCall("mmap", 9, 222)
    package static let protect = SystemCall("mprotect", 10, 226)
    package static let descriptorControl = SystemCall("fcntl", 72, 25)
    package static let processControl = SystemCall("prctl", 157, 167)
    package static let limit = SystemCall("prlimit64", 302, 261)
    package static let signal = SystemCall("kill", 62, 129)
    package static let signalThread = SystemCall("tgkill", 234, 131)
    package static let control = SystemCall("ioctl", 16, 29)
    package static let getPriority = SystemCall("getpriority", 140, 141)
    package static let setPriority = SystemCall("setpriority", 141, 140)
    package static let setScheduler = SystemCall("sched_setscheduler", 144, 119)
    package static let setAffinity = SystemCall("sched_setaffinity", 203, 122)
}

extension SystemCall {
    /// Calls that an engine may make with any arguments: they read and write open files, open, rename and remove files
    /// as Landlock allows, and use the engine's own memory, threads and clocks.
    package static let harmless = [
        SystemCall("read", 0, 63), SystemCall("write", 1, 64), SystemCall("readv", 19, 65),
        SystemCall("writev", 20, 66), SystemCall("pread64", 17, 67), SystemCall("pwrite64", 18, 68),
        SystemCall("preadv", 295, 69), SystemCall("pwritev", 296, 70), SystemCall("close", 3, 57),
        SystemCall("lseek", 8, 62), SystemCall("fstat", 5, 80), SystemCall("newfstatat", 262, 79),
        SystemCall("statx", 332, 291), SystemCall("fstatfs", 138, 44), SystemCall("stat", 4, nil),
        SystemCall("lstat", 6, nil), SystemCall("access", 21, nil), SystemCall("faccessat", 269, 48),
        SystemCall("faccessat2", 439, 439), SystemCall("readlink", 89, nil), SystemCall("readlinkat", 267, 78),
        SystemCall("getdents64", 217, 61), SystemCall("getcwd", 79, 17), SystemCall("rename", 82, nil),
        SystemCall("renameat", 264, 38), SystemCall("unlink", 87, nil), SystemCall("unlinkat", 263, 35),
        SystemCall("ftruncate", 77, 46), SystemCall("fallocate", 285, 47), SystemCall("fsync", 74, 82),
        SystemCall("fdatasync", 75, 83), SystemCall("sync_file_range", 277, 84), SystemCall("fadvise64", 221, 223),
        SystemCall("dup", 32, 23), SystemCall("dup3", 292, 24), SystemCall("munmap", 11, 215),
        SystemCall("mremap", 25, 216), SystemCall("madvise", 28, 233), SystemCall("brk", 12, 214),
        SystemCall("mlock", 149, 228), SystemCall("munlock", 150, 229), SystemCall("mincore", 27, 232),
        SystemCall("membarrier", 324, 283), SystemCall("memfd_create", 319, 279), SystemCall("futex", 202, 98),
        SystemCall("gettid", 186, 178), SystemCall("getpid", 39, 172), SystemCall("getppid", 110, 173),
        SystemCall("getuid", 102, 174), SystemCall("geteuid", 107, 175), SystemCall("getgid", 104, 176),
        SystemCall("getegid", 108, 177), SystemCall("sched_yield", 24, 124), SystemCall("sched_getaffinity", 204, 123),
        SystemCall("sched_getparam", 143, 121), SystemCall("sched_getscheduler", 145, 120),
        SystemCall("sched_get_priority_max", 146, 125), SystemCall("sched_get_priority_min", 147, 126),
        SystemCall("set_robust_list", 273, 99), SystemCall("rseq", 334, 293), SystemCall("rt_sigaction", 13, 134),
        SystemCall("rt_sigprocmask", 14, 135), SystemCall("rt_sigreturn", 15, 139), SystemCall("sigaltstack", 131, 132),
        SystemCall("clock_gettime", 228, 113), SystemCall("clock_getres", 229, 114),
        SystemCall("clock_nanosleep", 230, 115), SystemCall("nanosleep", 35, 101), SystemCall("gettimeofday", 96, 169),
        SystemCall("time", 201, nil), SystemCall("getrandom", 318, 278), SystemCall("getrusage", 98, 165),
        SystemCall("times", 100, 153), SystemCall("getcpu", 309, 168), SystemCall("getrlimit", 97, 163),
        SystemCall("epoll_create1", 291, 20), SystemCall("epoll_ctl", 233, 21), SystemCall("epoll_wait", 232, nil),
        SystemCall("epoll_pwait", 281, 22), SystemCall("eventfd2", 290, 19), SystemCall("timerfd_create", 283, 85),
        SystemCall("timerfd_settime", 286, 86), SystemCall("poll", 7, nil), SystemCall("ppoll", 271, 73),
        SystemCall("exit", 60, 93), SystemCall("exit_group", 231, 94), SystemCall("restart_syscall", 219, 128),
        SystemCall("sysinfo", 99, 179), SystemCall("uname", 63, 160), SystemCall("get_mempolicy", 239, 236),
        SystemCall("set_mempolicy", 238, 237),
    ]

    /// Calls that an attacker would make and codecs do not: a process that makes one is killed. Other calls that are
    /// not `harmless` do not exist for it (ENOSYS).
    package static let deadly = [
        SystemCall("execve", 59, 221), SystemCall("execveat", 322, 281), SystemCall("fork", 57, nil),
        SystemCall("vfork", 58, nil), SystemCall("socket", 41, 198), SystemCall("socketpair", 53, 199),
        SystemCall("connect", 42, 203), SystemCall("bind", 49, 200), SystemCall("listen", 50, 201),
        SystemCall("accept", 43, 202), SystemCall("accept4", 288, 242), SystemCall("sendto", 44, 206),
        SystemCall("sendmsg", 46, 211), SystemCall("sendmmsg", 307, 269), SystemCall("ptrace", 101, 117),
        SystemCall("process_vm_readv", 310, 270), SystemCall("process_vm_writev", 311, 271),
        SystemCall("process_madvise", 440, 440), SystemCall("pidfd_open", 434, 434),
        SystemCall("pidfd_getfd", 438, 438), SystemCall("pidfd_send_signal", 424, 424), SystemCall("kcmp", 312, 272),
        SystemCall("tkill", 200, 130), SystemCall("rt_sigqueueinfo", 129, 138),
        SystemCall("rt_tgsigqueueinfo", 297, 240), SystemCall("bpf", 321, 280), SystemCall("io_uring_setup", 425, 425),
        SystemCall("io_uring_enter", 426, 426), SystemCall("io_uring_register", 427, 427),
        SystemCall("userfaultfd", 323, 282), SystemCall("perf_event_open", 298, 241), SystemCall("mount", 165, 40),
        SystemCall("umount2", 166, 39), SystemCall("pivot_root", 155, 41), SystemCall("chroot", 161, 51),
        SystemCall("open_tree", 428, 428), SystemCall("move_mount", 429, 429), SystemCall("fsopen", 430, 430),
        SystemCall("fsconfig", 431, 431), SystemCall("fsmount", 432, 432), SystemCall("fspick", 433, 433),
        SystemCall("mount_setattr", 442, 442), SystemCall("unshare", 272, 97), SystemCall("setns", 308, 268),
        SystemCall("open_by_handle_at", 304, 265), SystemCall("keyctl", 250, 219), SystemCall("add_key", 248, 217),
        SystemCall("request_key", 249, 218), SystemCall("init_module", 175, 105), SystemCall("finit_module", 313, 273),
        SystemCall("delete_module", 176, 106), SystemCall("kexec_load", 246, 104),
        SystemCall("kexec_file_load", 320, 294), SystemCall("reboot", 169, 142), SystemCall("swapon", 167, 224),
        SystemCall("swapoff", 168, 225), SystemCall("setuid", 105, 146), SystemCall("setgid", 106, 144),
        SystemCall("setreuid", 113, 145), SystemCall("setregid", 114, 143), SystemCall("setresuid", 117, 147),
        SystemCall("setresgid", 119, 149), SystemCall("setgroups", 116, 159), SystemCall("setfsuid", 122, 151),
        SystemCall("setfsgid", 123, 152), SystemCall("capset", 126, 91), SystemCall("iopl", 172, nil),
        SystemCall("ioperm", 173, nil), SystemCall("modify_ldt", 154, nil), SystemCall("personality", 135, 92),
        SystemCall("acct", 163, 89), SystemCall("quotactl", 179, 60),
    ]
}

/// A processor's architecture, as a filter of system calls sees it.
package enum Architecture: CaseIterable, Sendable {
    case x86, arm

    /// This machine's; nil if reel knows none of its numbers.
    static var current: Architecture? {
        #if arch(x86_64)
            .x86
        #elseif arch(arm64)
            .arm
        #else
            nil
        #endif
    }

    /// AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h, which Swift does not import.
    package var number: UInt32 {
        switch self {
        case .x86: 0xC000_003E
        case .arm: 0xC000_00B7
        }
    }

    /// The call's number here.
    package func number(of call: SystemCall) -> UInt32? {
        switch self {
        case .x86: call.x86
        case .arm: call.arm
        }
    }
}
