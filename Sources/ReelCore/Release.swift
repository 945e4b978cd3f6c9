package enum Release {
    /// The version number, in the form of Semantic Versioning; all programs print it for `--version`.
    package static let version = "0.1.0"
}
