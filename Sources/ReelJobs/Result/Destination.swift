public import ReelCore
internal import ReelStore

/// The path to which a result is delivered.
public struct Destination: Hashable, Sendable {
    /// Path of the file to write.
    public let path: String
    /// Whether it replaces a file that is there.
    public let overwrite: Bool

    /// A path, and whether a file that is there is replaced.
    public init(_ path: String, overwrite: Bool) {
        self.path = path
        self.overwrite = overwrite
    }

    /// Checks, before any work is done, that a result may be written there. Throws `.output` if not.
    ///
    /// - Parameter source: path of the job's source, which is never replaced; nil if it is not known.
    public func check(source: String?) throws(ReelFailure) {
        try Delivery.check(path, source: source, overwrite: overwrite)
    }

    /// Writes a whole file there. Throws `.output` if it cannot be written; nothing half-written remains.
    func write(_ bytes: [UInt8]) throws(ReelFailure) {
        try Delivery.write(bytes, to: path, overwrite: overwrite)
    }
}
