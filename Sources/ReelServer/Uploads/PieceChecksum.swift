internal import Crypto
internal import Foundation
internal import HTTPTypes

/// The checksum that a piece must have (the extension checksum).
struct PieceChecksum {
    private let wanted: Data
    private var sha1: Insecure.SHA1?
    private var sha256: SHA256?

    init(_ header: String) throws {
        let parts = header.split(separator: " ")
        guard parts.count == 2, let wanted = Data(base64Encoded: String(parts[1])) else {
            throw Problem.header("Upload-Checksum", "It is an algorithm and a checksum in Base64.")
        }
        self.wanted = wanted
        switch parts[0] {
        case "sha1": sha1 = Insecure.SHA1()
        case "sha256": sha256 = SHA256()
        default: throw Problem.header("Upload-Checksum", "The algorithms are sha1 and sha256.")
        }
    }

    mutating func update(_ bytes: [UInt8]) {
        sha1?.update(data: bytes)
        sha256?.update(data: bytes)
    }

    /// Throws a problem of status 460 if the bytes so far have another.
    func check() throws {
        let found = sha1.map { Data($0.finalize()) } ?? sha256.map { Data($0.finalize()) }
        guard found == wanted else {
            throw Problem(
                HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"), "checksum-differs",
                "The piece's checksum differs", detail: "The bytes that came have another; none of them was taken.")
        }
    }
}
