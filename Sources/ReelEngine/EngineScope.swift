package import ReelCore

/// What an engine may reach: the files of its one job, and nothing else.
package struct EngineScope: Codable, Hashable, Sendable {
    /// Sources, which it may read if they lie in the roots of its caller, if those are restricted.
    package var sources: [Locator]
    /// Other files that it may read, and folders whose files it may.
    package var reads: [Locator]
    /// Folders in which it may make, write, rename, read and remove files.
    package var folders: [Locator]
    /// Seconds of CPU time, of all threads, after which it is killed; nil for no limit.
    package var cpuSeconds: Int?
    /// The most bytes that a file that it writes can have; nil for no limit.
    package var fileBytes: Int64?

    /// The scope of an engine that reads and writes nothing.
    package static let nothing = EngineScope(sources: [], reads: [], folders: [])

    /// A scope of these files.
    package init(
        sources: [Locator], reads: [Locator], folders: [Locator], cpuSeconds: Int? = nil, fileBytes: Int64? = nil
    ) {
        self.sources = sources
        self.reads = reads
        self.folders = folders
        self.cpuSeconds = cpuSeconds
        self.fileBytes = fileBytes
    }

    enum CodingKeys: String, CodingKey {
        case sources, reads, folders, cpuSeconds, fileBytes
    }
}
