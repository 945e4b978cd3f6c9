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
    package var seccomp: Bool

    package static let none = SandboxState(landlock: 0, seccomp: false)

    package init(landlock: Int, seccomp: Bool) {
        self.landlock = landlock
        self.seccomp = seccomp
    }

    package var missing: [SandboxPart] { (landlock > 0 ? [] : [.files]) + (seccomp ? [] : [.calls]) }
}

/// The folders from which sources are taken; links do not lead out of them. Copies of sources in a store are taken,
/// too.
package struct SourceRoots: Codable, Hashable, Sendable {
    /// Absolute paths.
    package let folders: [String]

    package init(_ folders: [String]) { self.folders = folders }

    /// The rest of the path after each root that the path begins with.
    package func places(of path: String) -> [(root: String, rest: String)] {
        folders.compactMap { root in
            let start = root.hasSuffix("/") ? root : root + "/"
            return path.hasPrefix(start) ? (root, String(path.dropFirst(start.count))) : nil
        }
    }
}
