internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelRemote
internal import Synchronization

struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private(set) var address: String
    /// Of the caller's connection.
    let eventLoop: any EventLoop
    var caller = Caller.nobody

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "unknown"
        eventLoop = source.channel.eventLoop
    }

    /// If the request came from a proxy on this machine, takes the address from which the proxy got it.
    ///
    /// - Parameter addresses: X-Forwarded-For. The proxy adds the last address; callers can write the ones before it.
    mutating func takeAddress(from addresses: String?) {
        guard IPAddress(address)?.isLoopback == true, let last = addresses?.split(separator: ",").last else { return }
        let origin = last.trimmingCharacters(in: .whitespaces)
        if IPAddress(origin) != nil { address = origin }
    }
}

extension ServerContext {
    /// A part of the path by its name, decoded. Throws a problem of status 400 if its encoding is wrong.
    func part(_ name: String) throws -> String {
        guard let text = parameters.get(name)?.removingPercentEncoding, !text.isEmpty else {
            throw Problem(
                .badRequest, "path-invalid", "The path cannot be read",
                detail: "Its part {\(name)} is not encoded well.")
        }
        return text
    }

    /// The job that the path names by its id, or by the beginning of its id. Throws `.jobAmbiguous` and `.jobUnknown`.
    func job(_ jobs: JobService) async throws -> JobID { try await jobs.job(named: part("id")) }
}

extension Request {
    /// The values of a parameter of the query, decoded as forms encode them (WHATWG URL, 5.1): a plus is a space.
    func query(all name: String) -> [String] {
        (uri.query ?? "").split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let text = part.replacing("+", with: " ")
                return text.removingPercentEncoding ?? String(text)
            }
            return parts.first == name ? parts.dropFirst().first ?? "" : nil
        }
    }

    /// The value of a parameter of the query, decoded; nil if it is missing. Throws a problem of status 400 if it has
    /// several.
    func query(_ name: String) throws -> String? {
        let values = query(all: name)
        guard values.count < 2 else { throw Problem.parameter(name, "It is there \(values.count) times.") }
        return values.first
    }

    /// The value of the parameter `cursor`; nil if it is missing.
    func cursor<Place>(_ read: (String) -> Place?) throws -> Place? {
        guard let text = try query("cursor") else { return nil }
        guard let place = read(text) else {
            throw Problem.parameter("cursor", "It must be a value that this server returned.")
        }
        return place
    }

    /// A value of a parameter that has few values.
    func value<Value: RawRepresentable & CaseIterable>(
        _ text: String, of name: String
    ) throws -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.parameter(name, "It is \(text); it can be \(known).")
        }
        return value
    }

    /// A whole number within a range; nil if it is missing.
    func query(_ name: String, _ allowed: ClosedRange<Int>) throws -> Int? {
        guard let text = try query(name) else { return nil }
        guard let number = Int(text), allowed.contains(number) else {
            throw Problem.parameter(name, "It must be \(allowed.lowerBound) to \(allowed.upperBound).")
        }
        return number
    }

    /// Throws a problem of status 400 if the query has a parameter that is not among these.
    func refuseParameters(except known: String...) throws {
        for key in uri.queryParameters.map(\.key) where !known.contains(String(key)) {
            throw Problem.parameter(
                String(key),
                known.isEmpty ? "None is taken here." : "These are taken: \(known.joined(separator: ", ")).")
        }
    }
}

extension Problem {
    static func parameter(_ name: String, _ detail: String) -> Problem {
        Problem(
            .badRequest, "parameter-invalid", "A parameter of the query cannot be taken", detail: "\(name): \(detail)",
            pointer: name)
    }
}

extension HTTPField.Name {
    /// A name of letters and hyphens.
    init(known text: StaticString) {
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no name of a field") }
        self = name
    }

    static let accelBuffering = HTTPField.Name(known: "X-Accel-Buffering")
    static let crossOriginResourcePolicy = HTTPField.Name(known: "Cross-Origin-Resource-Policy")
    static let host = HTTPField.Name(known: "Host")
    static let lastEventID = HTTPField.Name(known: "Last-Event-ID")
    static let methodOverride = HTTPField.Name(known: "X-HTTP-Method-Override")
    static let referrerPolicy = HTTPField.Name(known: "Referrer-Policy")
    static let reprDigest = HTTPField.Name(known: "Repr-Digest")
    static let secFetchSite = HTTPField.Name(known: "Sec-Fetch-Site")
    static let tusChecksumAlgorithm = HTTPField.Name(known: "Tus-Checksum-Algorithm")
    static let tusExtension = HTTPField.Name(known: "Tus-Extension")
    static let tusMaxSize = HTTPField.Name(known: "Tus-Max-Size")
    static let tusResumable = HTTPField.Name(known: "Tus-Resumable")
    static let tusVersion = HTTPField.Name(known: "Tus-Version")
    static let uploadChecksum = HTTPField.Name(known: "Upload-Checksum")
    static let uploadConcat = HTTPField.Name(known: "Upload-Concat")
    static let uploadDeferLength = HTTPField.Name(known: "Upload-Defer-Length")
    static let uploadExpires = HTTPField.Name(known: "Upload-Expires")
    static let uploadLength = HTTPField.Name(known: "Upload-Length")
    static let uploadMetadata = HTTPField.Name(known: "Upload-Metadata")
    static let uploadOffset = HTTPField.Name(known: "Upload-Offset")
    static let xForwardedFor = HTTPField.Name(known: "X-Forwarded-For")
    static let xForwardedProto = HTTPField.Name(known: "X-Forwarded-Proto")
}

/// The body of a request, in JSON. It holds room in memory for its bytes until it is released: when the work of the request
/// has ended.
struct JSONBody: Sendable {
    let place: JSONPlace
    private let room: BodyRoom

    struct Limits: Sendable {
        var bytes: Int
        var bounds: JSONBounds

        /// A job with all its clips, which have three values each, or fewer clips with more.
        static let job = Limits(
            bytes: JobRequest.mostBytes, bounds: JSONBounds(depth: 16, values: 4 * Edit.mostClips + 1000))
        /// A few values. An attempt to sign in, for example, needs no token.
        static let few = Limits(bytes: 16 << 10, bounds: JSONBounds(depth: 8, values: 500))
    }

    /// Larger bodies are decoded on a thread of their own.
    private static let small = 16 << 10
    private static let reader = JSONReader()

    /// How long a body may take or stall, and the number of bytes that give it a further second.
    private static let patience = (least: Duration.seconds(20), bytes: 64 << 10)

    /// Throws a problem of status 408 if its bytes come too slowly, of 413 if it has more bytes than the limits allow,
    /// of 415 if its type is not that of JSON, and of 400 if it is not JSON or exceeds the limits' bounds.
    ///
    /// A body without a type is refused, too: a page of any site may have a browser send one without asking (Fetch,
    /// 2.2.2).
    ///
    /// Throws a problem of status 503, too, if many large bodies are in memory.
    static func read(_ request: Request, _ limits: Limits) async throws -> JSONBody {
        let type = request.headers[.contentType]
        guard type?.prefix(while: { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased() == "application/json"
        else {
            throw Problem(
                .unsupportedMediaType, "not-json", "The request's body must be JSON",
                detail: "Its Content-Type is \(type ?? "missing"); application/json is taken.")
        }
        let room = BodyRoom()
        let bytes = try await bytes(request, most: limits.bytes, in: room)
        do {
            let place = JSONPlace(
                bytes.count <= small
                    ? try JSONValue(bytes, within: limits.bounds) : try await reader.read(bytes, within: limits.bounds))
            return JSONBody(place: place, room: room)
        } catch let excess as JSONFault where excess != .notJSON {
            throw Problem(
                .badRequest, "json-too-large", "The request's body is too deep or has too many values",
                detail: "It cannot be taken: \(excess).")
        } catch {
            throw Problem(
                .badRequest, "not-json", "The request's body must be JSON", detail: "It cannot be read as JSON.")
        }
    }

    private static func bytes(_ request: Request, most: Int, in room: BodyRoom) async throws -> Data {
        let tooLarge = Problem(
            .contentTooLarge, "body-too-large", "The request's body is too large",
            detail: "At most \(most) bytes are taken here.")
        // If the header says so, the server does not wait for the body.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > most { throw tooLarge }
        let tooSlow = Problem(
            .requestTimeout, "body-slow", "The request's body comes too slowly",
            detail: "After \(patience.least.components.seconds) s it must have come, or go on with 64 KiB a second.")
        var bytes = Data()
        var body = request.body.makeAsyncIterator()
        let begun = ContinuousClock.now
        while true {
            let rest = patience.least + .seconds(bytes.count / patience.bytes) - (ContinuousClock.now - begun)
            guard let buffer = try await body.next(within: min(rest, patience.least), orThrow: tooSlow) else {
                return bytes
            }
            guard bytes.count + buffer.readableBytes <= most else { throw tooLarge }
            try room.grow(to: bytes.count + buffer.readableBytes - small)
            bytes.append(contentsOf: buffer.readableBytesView)
        }
    }
}

/// The room that a large body takes in memory. All bodies of the server share it: callers could fill the memory otherwise.
final class BodyRoom: Sendable {
    /// As many bytes as the longest bodies of four requests have. Decoded they take about ten times as many.
    private static let most = 4 * JobRequest.mostBytes
    private static let taken = Mutex(0)
    private let own = Mutex(0)

    deinit { BodyRoom.taken.withLock { $0 -= own.withLock(\.self) } }

    /// Takes room for a body with this many bytes. Throws a problem of status 503 if the bodies of other requests take it.
    func grow(to bytes: Int) throws {
        let more = bytes - own.withLock(\.self)
        guard more > 0 else { return }
        let fits = BodyRoom.taken.withLock { taken in
            guard taken + more <= BodyRoom.most else { return false }
            taken += more
            return true
        }
        guard fits else {
            throw Problem(
                .serviceUnavailable, "bodies-busy", "Too many large requests are worked on",
                detail: "Send it again in a moment.", retryAfter: 5)
        }
        own.withLock { $0 = bytes }
    }
}

/// Decodes large bodies, one at a time and on a thread of its own, so that they hold up no request but one another.
private actor JSONReader {
    private let executor = SerialThreadExecutor(name: "reel-json")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func read(_ bytes: Data, within bounds: JSONBounds) throws -> JSONValue {
        // The sender may have gone while the body waited.
        try Task.checkCancellation()
        return try JSONValue(bytes, within: bounds)
    }
}

extension RequestBody.AsyncIterator {
    /// The next bytes of a body; nil after the last. Throws the problem if no byte comes in that time: a caller that
    /// has sent a head can otherwise leave its body open for as long as it likes.
    mutating func next(within time: Duration, orThrow problem: Problem) async throws -> ByteBuffer? {
        guard time > .zero else { throw problem }
        // Safe because one task alone uses it, and has ended before this returns.
        nonisolated(unsafe) var iterator = self
        defer { self = iterator }
        return try await problem.unless(within: time) { try await iterator.next() }
    }
}
