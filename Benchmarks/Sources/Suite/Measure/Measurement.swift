/// What a command and all its descendants took.
struct Measurement: Codable, Sendable {
    /// Seconds until the command itself ended.
    var wall = 0.0
    /// Seconds of processor time of all processes.
    var user = 0.0
    var system = 0.0
    /// Resident bytes of the largest process, exactly; a process counts from its start, before it becomes another program.
    var peakRSS = 0
    /// Resident bytes of all processes at one time, as sampled; what they share counts for each.
    var peakSum = 0
    /// Open files of one process, as sampled.
    var peakFiles = 0
    /// Bytes read and written by system calls, and how many of them reached the disk.
    var read = 0
    var written = 0
    var readFromDisk = 0
    var writtenToDisk = 0
    /// Its exit status, or 128 and the signal that ended it.
    var status = 0

    var cpu: Double { user + system }
}
