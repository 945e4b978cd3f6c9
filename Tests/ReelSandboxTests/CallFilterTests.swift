import Foundation
import Glibc
import ReelSandbox
import Testing

/// The rules as the kernel would apply them: the tests interpret the program that it gets.
@Suite("The filter of system calls")
struct CallFilterTests {
    private let filter = CallFilter(process: 77)

    /// The verdict about a call, as the kernel's number.
    private func verdict(
        _ number: UInt32, _ arguments: [UInt64] = [], on architecture: Architecture, as caller: UInt32? = nil
    ) -> UInt32 {
        let arguments = arguments + Array(repeating: 0, count: 6 - arguments.count)
        var words = [number, caller ?? architecture.number, 0, 0]
        for argument in arguments { words += [UInt32(truncatingIfNeeded: argument), UInt32(argument >> 32)] }
        let program = filter.program(for: architecture)
        var (place, register) = (0, UInt32(0))
        while true {
            let instruction = program[place]
            place += 1
            let isTrue: Bool
            switch instruction.code {
            case Instruction.loading:
                register = words[Int(instruction.value) / 4]
                continue
            case Instruction.jumping:
                place += Int(instruction.value)
                continue
            case Instruction.returning: return instruction.value
            case Instruction.equal: isTrue = register == instruction.value
            case Instruction.atLeast: isTrue = register >= instruction.value
            case Instruction.anyBit: isTrue = register & instruction.value != 0
            default:
                Issue.record("an instruction that the filter does not use")
                return 0
            }
            place += Int(isTrue ? instruction.skipTrue : instruction.skipFalse)
        }
    }

    private func verdict(_ call: SystemCall, _ arguments: UInt64..., on architecture: Architecture) -> UInt32? {
        architecture.number(of: call).map { verdict($0, arguments, on: architecture) }
    }

    private func call(_ name: String) throws -> SystemCall {
        try #require((SystemCall.harmless + SystemCall.deadly).first { $0.name == name })
    }

    /// Calls about which their arguments decide, or that get an answer without being made.
    private let conditional: [SystemCall] = [
        .clone, .open, .rename, .map, .protect, .descriptorControl, .processControl, .limit, .signal, .signalThread,
        .control, .getPriority, .setPriority, .setScheduler, .setAffinity,
    ]

    @Test("Harmless calls are allowed, deadly ones kill, and others do not exist", arguments: Architecture.allCases)
    func lists(architecture: Architecture) throws {
        for call in SystemCall.harmless {
            #expect([nil, Verdict.allow.number].contains(verdict(call, on: architecture)), "\(call.name)")
        }
        for call in SystemCall.deadly {
            #expect([nil, Verdict.kill.number].contains(verdict(call, on: architecture)), "\(call.name)")
        }
        let ruled = Set((SystemCall.harmless + SystemCall.deadly + conditional).compactMap(architecture.number))
        for number in UInt32(0)..<600 where !ruled.contains(number) {
            #expect(verdict(number, on: architecture) == Verdict.answer(ENOSYS).number, "\(number)")
        }
        #expect(Set(SystemCall.harmless).isDisjoint(with: SystemCall.deadly))
    }

    @Test("A call with another architecture's numbers kills", arguments: Architecture.allCases)
    func foreignNumbers(architecture: Architecture) throws {
        let read = try #require(architecture.number(of: call("read")))
        #expect(verdict(read, on: architecture) == Verdict.allow.number)
        // 32-bit x86, whose number 11 is execve.
        #expect(verdict(read, on: architecture, as: 0x4000_0003) == Verdict.kill.number)
        for other in Architecture.allCases where other != architecture {
            #expect(verdict(read, on: architecture, as: other.number) == Verdict.kill.number)
        }
        // x32 has the numbers of x86 with this bit.
        let expected = architecture == .x86 ? Verdict.kill : .answer(ENOSYS)
        #expect(verdict(read | 0x4000_0000, on: architecture) == expected.number)
    }

    @Test("Arguments decide about some calls", arguments: Architecture.allCases)
    func arguments(architecture: Architecture) {
        func expect(_ call: SystemCall, _ arguments: [UInt64], _ expected: Verdict, line: Int = #line) {
            let verdict = architecture.number(of: call).map { self.verdict($0, arguments, on: architecture) }
            #expect(verdict == expected.number, "\(call.name) in line \(line)")
        }
        expect(.clone, [0x3D_0F00], .allow)
        expect(.clone, [UInt64(SIGCHLD)], .kill)
        for namespace in [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
            expect(.clone, [0x3D_0F00 | UInt64(namespace)], .kill)
        }
        for (flags, verdict) in [(0, Verdict.allow), (1, .allow), (2, .answer(EINVAL)), (4, .answer(EINVAL))] {
            expect(.rename, [3, 0, 3, 0, UInt64(flags)], verdict)
        }
        let creating = UInt64(O_WRONLY | O_CREAT)
        expect(.open, [3, 0, UInt64(O_RDONLY)], .allow)
        expect(.open, [3, 0, creating, 0o666], .allow)
        expect(.open, [3, 0, creating, 0o4755], .answer(EPERM))
        expect(.open, [3, 0, creating, 0o2755], .answer(EPERM))
        expect(.signal, [77, 15], .allow)
        expect(.signal, [78, 15], .kill)
        expect(.signal, [0, 15], .kill)
        expect(.signal, [UInt64(bitPattern: -1), 9], .kill)
        expect(.signalThread, [77, 78, 6], .allow)
        expect(.signalThread, [1, 1, 9], .kill)
        expect(.map, [0, 4096, UInt64(PROT_READ | PROT_WRITE)], .allow)
        expect(.map, [0, 4096, UInt64(PROT_READ | PROT_EXEC)], .answer(EACCES))
        expect(.protect, [0, 4096, UInt64(PROT_EXEC)], .answer(EACCES))
        expect(.descriptorControl, [3, UInt64(F_DUPFD_CLOEXEC)], .allow)
        expect(.descriptorControl, [3, UInt64(F_SETOWN), 1], .answer(EINVAL))
        expect(.processControl, [15], .allow)
        expect(.processControl, [4, 1], .answer(EINVAL))
        let (addresses, descriptors) = (UInt64(RLIMIT_AS.rawValue), UInt64(RLIMIT_NOFILE.rawValue))
        expect(.limit, [0, addresses, 4096], .allow)
        expect(.limit, [77, addresses, 4096], .allow)
        expect(.limit, [1, addresses, 4096], .answer(EPERM))
        expect(.limit, [0, descriptors, 0, 4096], .allow)
        expect(.limit, [0, descriptors, 4096], .answer(EPERM))
        expect(.limit, [0, descriptors, 1 << 32], .answer(EPERM))
        expect(.setPriority, [], .answer(0))
    }

    /// Both tables come with the headers that Swift needs on Linux.
    @Test("Calls have the numbers of the kernel's headers")
    func numbers() throws {
        let x86 = try #require(
            numbers(["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"]))
        let arm = try #require(numbers(["/usr/include/asm-generic/unistd.h"]))
        for call in SystemCall.harmless + SystemCall.deadly + conditional {
            #expect(x86.isEmpty || call.x86 == x86[call.name], "\(call.name)")
            #expect(call.arm == arm[call.name], "\(call.name)")
        }
    }

    /// The numbers in the first of these files that exists; empty if all are missing.
    private func numbers(_ paths: [String]) -> [String: UInt32]? {
        let text = paths.lazy.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first ?? ""
        var (found, indirect) = ([String: UInt32](), [String: String]())
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 3, words[0] == "#define" else { continue }
            let name = words[1].replacing("__NR3264_", with: "__NR_3264_")
            guard name.hasPrefix("__NR_") else { continue }
            if let number = UInt32(words[2]) {
                found[String(name.dropFirst(5))] = number
            } else {
                indirect[String(name.dropFirst(5))] = String(words[2].replacing("__NR3264_", with: "3264_"))
            }
        }
        for (name, other) in indirect where found[name] == nil { found[name] = found[other] }
        return found
    }
}
