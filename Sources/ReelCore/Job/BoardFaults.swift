/// What is wrong with the address of a Redis.
public enum RedisAddressFault: String, Codable, CaseIterable, Sendable {
    case notURL = "not-a-url"
    case scheme
    /// `rediss://`, which is not supported.
    case tls
    case host, port
    /// A number of a database where none goes, or something else after the path.
    case query
    case database
    /// Of a socket: not absolute, or with a host before it.
    case path
    /// Of a socket: more than 107 bytes.
    case pathLength = "path-length"
}

/// In what a job contradicts itself that is to be put on the board.
public enum JobFault: String, Codable, CaseIterable, Sendable {
    case id
    /// Not above 0.
    case weight
    /// There are more passes, or fewer, than the job says.
    case passCount = "pass-count"
    /// Probe or assembly, which no plan lists.
    case passKind = "pass-kind"
    /// It has none, or the probe is another job's.
    case plan
}
