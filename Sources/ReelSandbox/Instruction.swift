/// An instruction of a filter of system calls: classic BPF, as in linux/filter.h. Its single register holds the word
/// that was loaded last.
package struct Instruction: Hashable, Sendable {
    package let code: UInt16
    /// How many instructions to skip if the comparison is true, and if it is false.
    package var skipTrue: UInt8 = 0
    package var skipFalse: UInt8 = 0
    package let value: UInt32

    /// Load a word of `struct seccomp_data`; jump; compare; return.
    package static let (loading, jumping, equal, atLeast, anyBit, returning) = (
        UInt16(0x20), UInt16(0x05), UInt16(0x15), UInt16(0x35), UInt16(0x45), UInt16(0x06)
    )

    /// A word of `struct seccomp_data`.
    enum Word {
        case number, architecture
        case argument(Int, isUpper: Bool)

        /// Both architectures have the lower half first.
        var offset: UInt32 {
            switch self {
            case .number: 0
            case .architecture: 4
            case .argument(let place, let isUpper): 16 + UInt32(place) * 8 + (isUpper ? 4 : 0)
            }
        }
    }

    static func load(_ word: Word) -> Self { Self(code: loading, value: word.offset) }

    static func jump(_ count: UInt32) -> Self { Self(code: jumping, value: count) }

    static func skip(_ count: UInt8, ifEqual value: UInt32) -> Self { Self(code: equal, skipTrue: count, value: value) }

    static func skip(_ count: UInt8, unlessEqual value: UInt32) -> Self {
        Self(code: equal, skipFalse: count, value: value)
    }

    static func skip(_ count: UInt8, ifBelow value: UInt32) -> Self {
        Self(code: atLeast, skipFalse: count, value: value)
    }

    static func skip(_ count: UInt8, ifAnyOf bits: UInt32) -> Self { Self(code: anyBit, skipTrue: count, value: bits) }

    static func skip(_ count: UInt8, unlessAnyOf bits: UInt32) -> Self {
        Self(code: anyBit, skipFalse: count, value: bits)
    }

    static func `return`(_ verdict: Verdict) -> Self { Self(code: returning, value: verdict.number) }
}

extension Verdict {
    /// SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO and SECCOMP_RET_KILL_PROCESS.
    package var number: UInt32 {
        switch self {
        case .allow: 0x7FFF_0000
        case .answer(let error): 0x0005_0000 | UInt32(error)
        case .kill: 0x8000_0000
        }
    }
}
