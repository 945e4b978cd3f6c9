package import ReelCore
internal import ReelStore

/// The path to which a result is delivered.
package struct Destination: Hashable, Sendable {
    /// Path of the file to write.
    package let path: String
    /// Whether it replaces a file that is there.
    package let overwrite: Bool

    /// A path, and whether a file that is there is replaced.
    package init(_ path: String, overwrite: Bool) {
        self.path = path
        self.overwrite = overwrite
    }

    /// Checks, before any work is done, that a result may be written there. Throws `.output` if not.
    ///
    /// - Parameter source: path of the job's source, which is never replaced; nil if it is not known.
    package func check(source: String?) throws(ReelFailure) {
        try Delivery.check(path, source: source, overwrite: overwrite)
    }

    /// Writes a whole file there. Throws `.output` if it cannot be written; nothing half-written remains.
    func write(_ bytes: [UInt8]) throws(ReelFailure) {
        try Delivery.write(bytes, to: path, overwrite: overwrite)
    }
}
