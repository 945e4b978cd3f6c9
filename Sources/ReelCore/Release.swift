/// Which release of reel this is.
public enum Release {
    /// As Semantic Versioning has it; all programs print it for `--version`.
    public static let version = "0.1.0"
}
