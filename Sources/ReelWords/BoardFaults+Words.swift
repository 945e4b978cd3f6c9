internal import ReelCore

extension RedisAddressFault {
    var words: String {
        switch self {
        case .notURL: "it is not a URL"
        case .scheme: "the scheme must be redis or unix"
        case .tls: "reel does not support TLS itself; use a tunnel, see Redis over TLS in deploy/README.md"
        case .host: "the host is missing"
        case .port: "the port is wrong"
        case .query: "write the database number into the path of redis:// (/2), or as ?db=N alone after unix://"
        case .database: "the database must be a number"
        case .path: "it needs three slashes and an absolute path"
        case .pathLength: "the path of a socket must not have more than 107 bytes"
        }
    }
}

extension JobFault {
    var words: String {
        switch self {
        case .id: "it has no id"
        case .weight: "its weight is not positive"
        case .passCount: "it has not as many passes as it states"
        case .passKind: "its passes include the probe or the assembly"
        case .plan: "its plan has no number, or the probe is another job's"
        }
    }
}
