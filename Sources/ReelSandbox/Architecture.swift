internal import CSandbox

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
