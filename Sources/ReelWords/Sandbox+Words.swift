package import ReelCore

extension SandboxState {
    /// The confinement that is in force, in words.
    package var words: String {
        switch (landlock > 0, seccomp) {
        case (true, true): "engines are confined: Landlock \(landlock), seccomp"
        case (true, false): "engines are confined in part: Landlock \(landlock), no seccomp"
        case (false, true): "engines are confined in part: seccomp, no Landlock"
        case (false, false): "engines are not confined"
        }
    }
}
