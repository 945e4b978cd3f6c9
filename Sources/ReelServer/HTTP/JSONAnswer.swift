internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore

/// Answers in JSON, with the same names and forms as `--json`.
enum JSONAnswer {
    static func response(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try bytes(value))))
    }

    /// The body of such an answer.
    static func bytes(_ value: some Encodable) throws -> Data {
        Data(try CanonicalJSON.bytes(of: value))
    }
}
