internal import ReelCore

extension RedisAddressFault {
    var words: String {
        switch self {
        case .notURL: "it is not a URL"
        case .scheme: "the scheme must be redis or unix"
        case .tls: "reel speaks no TLS itself; a tunnel does, see deploy/README.md, Redis over TLS"
        case .host: "the host is missing"
        case .port: "the port is wrong"
        case .query: "the database number goes into the path of redis:// (/2), and ?db=N alone follows that of unix://"
        case .database: "the database must be a number"
        case .path: "it needs three slashes and an absolute path"
        case .pathLength: "a socket's path holds 107 bytes at most"
        }
    }
}

extension JobFault {
    var words: String {
        switch self {
        case .id: "it has no id"
        case .weight: "its weight is not above 0"
        case .passCount: "its passes are not as many as it says"
        case .passKind: "its passes name the probe or the assembly"
        case .plan: "its plan has no number, or the probe is another job's"
        }
    }
}
