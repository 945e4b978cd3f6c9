internal import Crypto
internal import Foundation
package import ReelCore
internal import ReelJobs
internal import ReelStore

/// The tokens of a server: a file with a line of JSON for each, which keeps a salted hash. A token is 256 random bits,
/// too many to try, so a fast hash is enough.
package struct TokenFile: Sendable {
    package let path: String

    /// The file at a path; it need not exist.
    package init(path: String) { self.path = path }

    struct Entry: Codable, Hashable, Sendable {
        var name: String
        var role: Role
        var salt: Data
        /// HMAC-SHA256 of the token, with the salt as its key, in Base64.
        var hash: Data

        /// Takes as long for a token that differs late as for one that differs early.
        func matches(_ token: String) -> Bool {
            HMAC<SHA256>.isValidAuthenticationCode(
                hash, authenticating: Data(token.utf8), using: SymmetricKey(data: salt))
        }
    }

    /// Adds a token, and makes the file if there is none; only its owner can read it. Returns the token, which is kept
    /// nowhere.
    ///
    /// Throws `.tokenNameTaken` if the file has one of that name, `.tokenFileDamaged`, and `.secretFileUnusable`.
    package func add(_ name: String, _ role: Role) throws(ReelFailure) -> String {
        var entries = FileManager.default.fileExists(atPath: path) ? try read() : []
        guard !entries.contains(where: { $0.name == name }) else {
            throw ReelFailure(.tokenNameTaken(name: name, path: path))
        }
        let token = "reel_" + TokenFile.text(SymmetricKey(size: .bits256))
        let salt = SymmetricKey(size: .bits128)
        let hash = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: salt)
        entries.append(Entry(name: name, role: role, salt: salt.withUnsafeBytes { Data($0) }, hash: Data(hash)))
        do {
            let lines = try entries.map { try CanonicalJSON.text(of: $0) + "\n" }
            try SecretFile.write(lines.joined(), to: path)
        } catch {
            throw .of(error)
        }
        return token
    }

    /// The tokens of the file. Throws `.tokenFileDamaged`, and as `SecretFile.read` does.
    func read() throws(ReelFailure) -> [Entry] {
        var entries: [Entry] = []
        for (number, line) in try SecretFile.read(path, of: .server).split(separator: "\n").enumerated() {
            guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line.utf8)) else {
                throw ReelFailure(.tokenFileDamaged(path: path, line: number + 1))
            }
            entries.append(entry)
        }
        return entries
    }

    /// Base64 for URLs and cookies.
    private static func text(_ key: SymmetricKey) -> String {
        key.withUnsafeBytes { Data($0) }.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

/// What the bearer of a token may do; each role may do what the ones before it may.
package enum Role: String, CaseIterable, Codable, Comparable, Sendable {
    case viewer
    /// Submits, uploads, cancels, retries, pauses, changes and downloads.
    case `operator`
    /// Removes jobs, drains workers, and reads the audit log.
    case admin

    package static func < (less: Role, more: Role) -> Bool {
        switch (less, more) {
        case (.viewer, .operator), (.viewer, .admin), (.operator, .admin): true
        default: false
        }
    }
}

struct Caller: Hashable, Sendable {
    /// The name of its token; nil if tokens are not used, or for nobody.
    var name: String?
    /// Nil for a caller without a token.
    var role: Role?

    /// A caller without a token, where tokens are used.
    static let nobody = Caller(name: nil, role: nil)
    /// Any caller of a server without tokens.
    static let anyone = Caller(name: nil, role: .admin)
}
