/// What the bearer of a token may do; each role may do what the ones before it may.
package enum Role: String, CaseIterable, Codable, Comparable, Sendable {
    /// Reads.
    case viewer
    /// Submits, uploads, cancels, retries, pauses, changes and downloads.
    case `operator`
    /// Removes jobs, drains workers, and reads the audit log.
    case admin

    /// Whether a role may do less than another.
    package static func < (less: Role, more: Role) -> Bool { less.rank < more.rank }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .operator: 1
        case .admin: 2
        }
    }
}

/// Who makes a request.
struct Caller: Hashable, Sendable {
    /// The name of its token; nil if tokens are not used, or for nobody.
    var name: String?
    /// Nil for one that has shown no token.
    var role: Role?

    /// Has shown no token, where tokens are used.
    static let nobody = Caller(name: nil, role: nil)
    /// Anyone who reaches a server without tokens.
    static let anyone = Caller(name: nil, role: .admin)
}
