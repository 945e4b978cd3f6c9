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
package struct Condition: Sendable {
    enum Test: Sendable {
        case isOne(of: [UInt32])
        case hasBits(UInt32)
        case lacksBits(UInt32)
    }

    /// Arguments count from 0.
    let argument: Int
    /// Of an argument's 64 bits, the upper half.
    var isUpper = false
    let test: Test
}

/// The verdict about one call if its arguments meet all conditions, and if they do not; then nil leaves it to the next
/// rule.
package struct CallRule: Sendable {
    let call: SystemCall
    var conditions: [Condition] = []
    let verdict: Verdict
    var otherwise: Verdict?
}

/// What an engine may ask of the kernel: the rules, in their order. The first that decides counts; a call without a
/// rule does not exist (ENOSYS), so that glibc and codecs do without it.
package struct CallFilter: Sendable {
    let rules: [CallRule]

    /// The filter of an engine.
    ///
    /// - Parameter process: the engine's number, to which alone it may send signals.
    package init(process: UInt32) {
        let own = Condition(argument: 0, test: .isOne(of: [process]))
        let ownOrSelf = Condition(argument: 0, test: .isOne(of: [0, process]))
        rules =
            SystemCall.harmless.map { CallRule(call: $0, verdict: .allow) }
            + [
                // Threads, and no processes. glibc makes threads with clone where clone3 does not exist.
                CallRule(
                    call: .clone,
                    conditions: [
                        Condition(argument: 0, test: .hasBits(Self.thread)),
                        Condition(argument: 0, test: .lacksBits(Self.namespaces)),
                    ], verdict: .allow, otherwise: .kill),
                // A file that is made with these bits runs with the rights of the worker's user for every user.
                CallRule(
                    call: .open,
                    conditions: [Condition(argument: 3, test: .lacksBits(UInt32(S_ISUID | S_ISGID)))],
                    verdict: .allow, otherwise: .answer(EPERM)),
                // RENAME_WHITEOUT makes a device that Landlock does not let it make; no codec exchanges files.
                CallRule(
                    call: .rename, conditions: [Condition(argument: 4, test: .isOne(of: [0, Self.noReplace]))],
                    verdict: .allow, otherwise: .answer(EINVAL)),
                CallRule(call: .signal, conditions: [own], verdict: .allow, otherwise: .kill),
                CallRule(call: .signalThread, conditions: [own], verdict: .allow, otherwise: .kill),
                // No new code.
                CallRule(
                    call: .map, conditions: [Condition(argument: 2, test: .lacksBits(UInt32(PROT_EXEC)))],
                    verdict: .allow, otherwise: .answer(EACCES)),
                CallRule(
                    call: .protect, conditions: [Condition(argument: 2, test: .lacksBits(UInt32(PROT_EXEC)))],
                    verdict: .allow, otherwise: .answer(EACCES)),
                // F_SETOWN would send signals to other processes.
                CallRule(
                    call: .descriptorControl,
                    conditions: [
                        Condition(
                            argument: 1,
                            test: .isOne(
                                of: [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL].map(UInt32.init)))
                    ], verdict: .allow, otherwise: .answer(EINVAL)),
                CallRule(
                    call: .processControl,
                    conditions: [Condition(argument: 0, test: .isOne(of: [Self.setName, Self.getName]))],
                    verdict: .allow, otherwise: .answer(EINVAL)),
                // The limit of addresses is let go for encoders that hang at it.
                CallRule(
                    call: .limit,
                    conditions: [
                        ownOrSelf, Condition(argument: 1, test: .isOne(of: [UInt32(RLIMIT_AS.rawValue)])),
                    ], verdict: .allow),
                CallRule(
                    call: .limit,
                    conditions: [
                        ownOrSelf, Condition(argument: 2, test: .isOne(of: [0])),
                        Condition(argument: 2, isUpper: true, test: .isOne(of: [0])),
                    ], verdict: .allow, otherwise: .answer(EPERM)),
                CallRule(call: .control, verdict: .answer(ENOTTY)),
                // Codecs that set their threads' priority do without. If setting it fails, libdispatch calls syslog(),
                // which opens a socket.
                CallRule(call: .setPriority, verdict: .answer(0)),
                CallRule(call: .getPriority, verdict: .answer(EPERM)),
                CallRule(call: .setScheduler, verdict: .answer(EPERM)),
                CallRule(call: .setAffinity, verdict: .answer(EPERM)),
            ] + SystemCall.deadly.map { CallRule(call: $0, verdict: .kill) }
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
        // The numbers of x32, of which the filter knows none.
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
