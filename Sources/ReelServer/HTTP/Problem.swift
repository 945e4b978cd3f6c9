internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore
internal import ReelJobs
internal import ReelWords

/// An answer that says what is wrong, as of RFC 9457.
struct Problem: Error, HTTPResponseError, Encodable {
    var status: HTTPResponse.Status
    /// Stable.
    var code: String
    /// The kind of problem, in words.
    var title: String
    /// What is wrong in this case, and what to do.
    var detail: String
    /// The place in the request's body, as of RFC 6901; or the name of a parameter.
    var pointer: String?
    /// The facts of the code, by name.
    var facts: JSONValue?
    /// Seconds after which the same request may succeed.
    var retryAfter: Int?
    /// Fields of the answer beside those of every problem.
    var headers: HTTPFields = [:]

    init(
        _ status: HTTPResponse.Status, _ code: String, _ title: String, detail: String, pointer: String? = nil,
        facts: JSONValue? = nil, retryAfter: Int? = nil
    ) {
        (self.status, self.code, self.title, self.detail) = (status, code, title, detail)
        (self.pointer, self.facts, self.retryAfter) = (pointer, facts, retryAfter)
    }

    init(_ failure: ReelFailure) {
        let status = failure.httpStatus
        self.init(
            status, failure.reason.code, failure.reason.text.meaning, detail: failure.words,
            facts: failure.reason.facts, retryAfter: status == .serviceUnavailable ? 5 : nil)
    }

    static func storeAway(_ failure: ReelFailure) -> Problem {
        Problem(
            .serviceUnavailable, failure.reason.code, "The store cannot be reached",
            detail: "Nothing of it is lost; try again.", retryAfter: 5)
    }

    init(_ flawed: FlawedPlace) {
        let failure = ReelFailure(.editFlawed(path: "request", place: flawed.place, flaw: flawed.flaw))
        self.init(
            .badRequest, "request-invalid", "The request's body cannot be taken", detail: failure.words,
            pointer: flawed.pointer)
    }

    init(_ fault: RequestFault) {
        self.init(
            .badRequest, "option-invalid", "An option cannot be taken", detail: fault.words(.api),
            pointer: "/options/\(fault.field.rawValue)")
    }

    private enum CodingKeys: String, CodingKey { case type, title, status, code, detail, pointer, facts }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("about:blank", forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status.code, forKey: .status)
        try container.encode(code, forKey: .code)
        try container.encode(detail, forKey: .detail)
        try container.encodeIfPresent(pointer, forKey: .pointer)
        try container.encodeIfPresent(facts, forKey: .facts)
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try JSONAnswer.response(self, status)
        response.headers[.contentType] = "application/problem+json"
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        for field in headers { response.headers[field.name] = field.value }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer realm=\"reel\"" }
        return response
    }

    init(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let failure as ReelFailure: self.init(failure)
        case let flawed as FlawedPlace: self.init(flawed)
        case let fault as RequestFault: self.init(fault)
        case let error as HTTPError:
            self.init(
                error.status, "http-\(error.status.code)", error.status.reasonPhrase,
                detail: error.body ?? error.status.reasonPhrase)
        case HTTPParserError.invalidEOFState:
            // The caller has gone; the status tells it from a failure of the server in the log.
            self.init(
                .requestTimeout, "body-cut", "The body did not come to its end",
                detail: "The connection ended before it.")
        case is HTTPParserError:
            // The connection has answered by itself, and ends.
            self.init(
                .badRequest, "body-malformed", "The request cannot be read", detail: "Its body is not as HTTP has it.")
        default: self.init(ReelFailure.of(error))
        }
    }
}

extension Problem {
    /// Runs work, and cancels it after that time; then throws the problem.
    func unless<Result: Sendable>(
        within time: Duration, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: time)
                throw self
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}

extension ReelFailure {
    fileprivate var httpStatus: HTTPResponse.Status {
        switch reason {
        case .jobUnknown, .workerUnknown, .noResult: .notFound
        case .jobEnded, .jobNotFailed, .jobNotEnded, .jobNotOnBoard, .jobCancelled, .webhooksTooMany: .conflict
        case .sourceOutside, .urlHostForbidden: .forbidden
        case .quotaExceeded: .unprocessableContent
        case .resultDiffers: .internalServerError
        default:
            switch kind {
            case .usage: .badRequest
            case .input: .unprocessableContent
            case .output: cause == .noSpace ? .insufficientStorage : .internalServerError
            case .unreachable, .interrupted: cause == .noSpace ? .insufficientStorage : .serviceUnavailable
            default: .internalServerError
            }
        }
    }
}

extension HTTPResponse.Status {
    /// Of RFC 4918, 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

/// Answers in JSON, with the same names and forms as `--json`.
enum JSONAnswer {
    static func response(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try bytes(value))))
    }

    static func bytes(_ value: some Encodable) throws -> Data { Data(try CanonicalJSON.bytes(of: value)) }
}
