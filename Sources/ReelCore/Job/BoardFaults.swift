/// What is wrong with the address of a Redis server.
package enum RedisAddressFault: String, Codable, CaseIterable, Sendable {
    case notURL = "not-a-url"
    /// The URL's scheme is not one that reel knows.
    case scheme
    /// The scheme is `rediss://`, which is not supported.
    case tls
    case host, port
    /// A database number is at the wrong place, or something else follows the path.
    case query
    case database
    /// The path of a socket is not absolute, or a host stands before it.
    case path
    /// The path of a socket has more than 107 bytes.
    case pathLength = "path-length"
}

/// Why a job to be put on the board contradicts itself.
package enum JobFault: String, Codable, CaseIterable, Sendable {
    case id
    /// The weight is 0 or negative.
    case weight
    /// The number of passes differs from the number that the job states.
    case passCount = "pass-count"
    /// One of the passes is a probe or an assembly, which no plan lists.
    case passKind = "pass-kind"
    /// The job has no plan, or its probe belongs to another job.
    case plan
}
