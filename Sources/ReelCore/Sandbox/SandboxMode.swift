/// Whether engines must be confined.
package enum SandboxMode: String, Codable, CaseIterable, Sendable {
    /// An engine that the kernel cannot confine wholly does not start.
    case require
    /// Engines are confined as far as the kernel can.
    case `try`
    /// Engines are not confined: they keep their limits, and reach everything that their user reaches.
    case off
}

/// A part of an engine's confinement that a kernel may lack.
package enum SandboxPart: String, Codable, CaseIterable, Sendable {
    /// Landlock: an engine reaches only the files of its job.
    case files
    /// seccomp: an engine has only the system calls that media work takes, so no network and no other programs.
    case calls
}

/// The confinement that is in force in an engine.
package struct SandboxState: Codable, Hashable, Sendable {
    /// The version of Landlock's interface; 0 if engines are not confined by it.
    package var landlock: Int
    /// Whether a filter of system calls is in force.
    package var seccomp: Bool

    /// No confinement.
    package static let none = SandboxState(landlock: 0, seccomp: false)

    package init(landlock: Int, seccomp: Bool) {
        self.landlock = landlock
        self.seccomp = seccomp
    }

    /// The parts that are not in force.
    package var missing: [SandboxPart] { (landlock > 0 ? [] : [.files]) + (seccomp ? [] : [.calls]) }
}
