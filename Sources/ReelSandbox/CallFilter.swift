internal import Glibc

/// The answer of the kernel to a system call.
package enum Verdict: Hashable, Sendable {
    case allow
    /// The call is not made, and returns this error; 0 is success.
    case answer(Int32)
    /// The whole process is killed (SIGSYS).
    case kill
}

/// A test of one of a call's arguments.
struct Condition: Sendable {
    enum Test: Sendable {
        case isOne(of: [UInt32])
        case hasBits(UInt32)
        case lacksBits(UInt32)
    }

    /// Arguments count from 0.
    let argument: Int
    /// Whether the test is of the upper half of the argument's 64 bits, instead of the lower.
    let isUpper: Bool
    let test: Test

    init(_ argument: Int, isUpper: Bool = false, _ test: Test) {
        self.argument = argument
        self.isUpper = isUpper
        self.test = test
    }
}

/// The verdict about one call if its arguments meet all conditions, and if they do not; then nil leaves it to the next
/// rule.
struct CallRule: Sendable {
    let call: SystemCall
    let conditions: [Condition]
    let verdict: Verdict
    let otherwise: Verdict?

    init(_ call: SystemCall, if conditions: Condition..., then verdict: Verdict, otherwise: Verdict? = nil) {
        self.call = call
        self.conditions = conditions
        self.verdict = verdict
        self.otherwise = otherwise
    }
}

/// The system calls that an engine may make: the rules, in their order. The first rule that decides counts; a call
/// without a rule does not exist (ENOSYS), so that glibc and codecs do without it.
package struct CallFilter: Sendable {
    let rules: [CallRule]

    /// The filter of an engine.
    ///
    /// - Parameter process: the engine's number. It may send signals only to itself.
    package init(process: UInt32) {
        let own = Condition(0, .isOne(of: [process]))
        let ownOrSelf = Condition(0, .isOne(of: [0, process]))
        let isNotExecutable = Condition(2, .lacksBits(UInt32(PROT_EXEC)))
        let controls = [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL].map(UInt32.init)
        rules =
            SystemCall.harmless.map { CallRule($0, then: .allow) }
            + [
                // Threads, and no processes. glibc makes threads with clone where clone3 does not exist.
                CallRule(
                    .clone, if: Condition(0, .hasBits(Self.thread)), Condition(0, .lacksBits(Self.namespaces)),
                    then: .allow, otherwise: .kill),
                // A file that is made with these bits runs with the rights of the worker's user for every user.
                CallRule(
                    .open, if: Condition(3, .lacksBits(UInt32(S_ISUID | S_ISGID))),
                    then: .allow, otherwise: .answer(EPERM)),
                // RENAME_WHITEOUT makes a device that Landlock does not let it make; no codec exchanges files.
                CallRule(
                    .rename, if: Condition(4, .isOne(of: [0, Self.noReplace])),
                    then: .allow, otherwise: .answer(EINVAL)),
                CallRule(.signal, if: own, then: .allow, otherwise: .kill),
                CallRule(.signalThread, if: own, then: .allow, otherwise: .kill),
                // No new code.
                CallRule(.map, if: isNotExecutable, then: .allow, otherwise: .answer(EACCES)),
                CallRule(.protect, if: isNotExecutable, then: .allow, otherwise: .answer(EACCES)),
                // F_SETOWN would send signals to other processes.
                CallRule(
                    .descriptorControl, if: Condition(1, .isOne(of: controls)),
                    then: .allow, otherwise: .answer(EINVAL)),
                CallRule(
                    .processControl, if: Condition(0, .isOne(of: [Self.setName, Self.getName])),
                    then: .allow, otherwise: .answer(EINVAL)),
                // The limit of addresses is let go for encoders that hang at it.
                CallRule(.limit, if: ownOrSelf, Condition(1, .isOne(of: [UInt32(RLIMIT_AS.rawValue)])), then: .allow),
                CallRule(
                    .limit, if: ownOrSelf, Condition(2, .isOne(of: [0])), Condition(2, isUpper: true, .isOne(of: [0])),
                    then: .allow, otherwise: .answer(EPERM)),
                CallRule(.control, then: .answer(ENOTTY)),
                // Codecs that set their threads' priority do without. If setting it fails, libdispatch calls syslog(),
                // which opens a socket.
                CallRule(.setPriority, then: .answer(0)),
                CallRule(.getPriority, then: .answer(EPERM)),
                CallRule(.setScheduler, then: .answer(EPERM)),
                CallRule(.setAffinity, then: .answer(EPERM)),
            ] + SystemCall.deadly.map { CallRule($0, then: .kill) }
    }

    /// CLONE_THREAD, which Swift does not import.
    private static let thread: UInt32 = 0x10000
    /// The bits CLONE_NEW….
    private static let namespaces: UInt32 = 0x7E02_0080
    /// RENAME_NOREPLACE.
    private static let noReplace: UInt32 = 1
    /// PR_SET_NAME and PR_GET_NAME.
    private static let (setName, getName) = (UInt32(15), UInt32(16))

    /// The filter as a program of the kernel. It kills a process that calls with another architecture's numbers.
    package func program(for architecture: Architecture) -> [Instruction] {
        var program: [Instruction] = [
            .load(.architecture), .skip(1, ifEqual: architecture.number), .return(.kill), .load(.number),
        ]
        // The filter knows no numbers of x32.
        if architecture == .x86 { program += [.skip(1, ifBelow: 0x4000_0000), .return(.kill)] }
        for rule in rules {
            guard let number = architecture.number(of: rule.call) else { continue }
            var body = Self.instructions(rule.conditions[...], rule.verdict, rule.otherwise)
            // The next rule compares the number again.
            if !rule.conditions.isEmpty, rule.otherwise == nil { body.append(.load(.number)) }
            program += [.skip(UInt8(body.count), unlessEqual: number)] + body
        }
        return program + [.return(.answer(ENOSYS))]
    }

    /// Instructions that return the verdict, or go past their end if `otherwise` is nil.
    private static func instructions(
        _ conditions: ArraySlice<Condition>, _ verdict: Verdict, _ otherwise: Verdict?
    ) -> [Instruction] {
        guard let condition = conditions.first else { return [.return(verdict)] }
        let met = instructions(conditions.dropFirst(), verdict, otherwise)
        let unmet: Instruction = otherwise.map { .return($0) } ?? .jump(UInt32(met.count))
        return [.load(.argument(condition.argument, isUpper: condition.isUpper))] + condition.test.skippingOne + [unmet]
            + met
    }
}

extension Condition.Test {
    /// Instructions that skip the one after them if the test succeeds.
    fileprivate var skippingOne: [Instruction] {
        switch self {
        case .isOne(let values):
            values.enumerated().map { .skip(UInt8(values.count - $0.offset), ifEqual: $0.element) }
        case .hasBits(let bits): [.skip(1, ifAnyOf: bits)]
        case .lacksBits(let bits): [.skip(1, unlessAnyOf: bits)]
        }
    }
}
