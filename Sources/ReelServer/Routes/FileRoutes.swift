internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import Synchronization

/// Results and sources of jobs, and what shows them to people: frames, filmstrips and proxies.
struct FileRoutes {
    let jobs: JobService
    let pictures: JobPictures
    let proxies: JobProxies
    /// The folders whose files can be submitted, and that of uploads.
    let sources: SourceRoots
    let compared = ComparedFiles()

    /// Pictures and proxies that take longer are made all the same, for the next request.
    private static let limit = Duration.seconds(20)

    var routes: [Route] {
        [
            .get("jobs/{id}/output", .operator, limit: nil, output).usingStore(),
            .get("jobs/{id}/source", .operator, limit: nil, source).usingStore(),
            .get("results.zip", .operator, limit: nil, archive).usingStore(),
            .get("jobs/{id}/frames/{side}/{n}.jpg", .viewer, limit: FileRoutes.limit) { request, context in
                let text = try context.parameters.require("n")
                guard let frame = Int(text), frame >= 0, String(frame) == text else {
                    throw FileRoutes.missing("frame-unknown", "A frame is a number from 0 on; this is \(text).")
                }
                return try await answer(.frame(frame), request, context)
            }.usingStore(),
            .get("jobs/{id}/filmstrip/{side}.jpg", .viewer, limit: FileRoutes.limit) { request, context in
                try await answer(.filmstrip, request, context)
            }.usingStore(),
            .get("jobs/{id}/proxy/{side}.mp4", .operator, limit: FileRoutes.limit, proxy).usingStore().fromOwnPages(),
        ]
    }

    @Sendable private func output(_ request: Request, _ context: ServerContext) async throws -> Response {
        let job = try await context.job(jobs)
        let results = try jobs.results()
        let (result, file) = try await results.open(job)
        let answer = FileAnswer(
            file: file, name: try await name(ofResult: job), sha256: result.recorded.sha256, compared: compared,
            isAttachment: true)
        return try answer.response(to: request, at: context.eventLoop)
    }

    func name(ofResult job: JobID) async throws -> String {
        try await URL(fileURLWithPath: jobs.results().path(of: job, asked: nil)).lastPathComponent
    }

    @Sendable private func source(_ request: Request, _ context: ServerContext) async throws -> Response {
        let source = try await source(of: context.job(jobs))
        let answer = FileAnswer(file: source.file, name: source.name, sha256: nil, isAttachment: false)
        return try answer.response(to: request, at: context.eventLoop)
    }

    private func source(of job: JobID) async throws -> (file: any StoredBytes, name: String) {
        do throws(ReelFailure) { return try await jobs.source(of: job, within: sources) } catch {
            guard error.kind == .input else { throw error }
            // It was moved, the upload has expired, or it lies outside this server's folders.
            throw Problem(
                .notFound, error.reason.code, "The source is not there", detail: "This server cannot send it any more.")
        }
    }

    // MARK: Proxies

    @Sendable private func proxy(_ request: Request, _ context: ServerContext) async throws -> Response {
        let (side, job) = (try side(context), try await context.job(jobs))
        // A caller who may not have the source may not see it, either.
        if side == .source { _ = try await source(of: job) }
        do {
            let answer = FileAnswer(
                file: try await proxies.proxy(of: side, job), name: "\(side.rawValue).mp4", sha256: nil,
                isAttachment: false)
            return try answer.response(to: request, at: context.eventLoop)
        } catch let absence as PictureAbsence {
            throw Problem(absence, without: "There are proxies of pictures that play, and of sources of one range.")
        } catch let failure as ReelFailure {
            throw Problem(ofProxy: failure)
        }
    }

    // MARK: Pictures

    private func answer(
        _ wanted: JobPictures.Wanted, _ request: Request, _ context: ServerContext
    ) async throws -> Response {
        let (side, job) = (try side(context), try await context.job(jobs))
        do {
            let picture = try await pictures.picture(wanted, of: side, job)
            let answer = FileAnswer(file: picture, name: "\(side.rawValue).jpg", sha256: nil, isAttachment: false)
            return try answer.response(to: request, at: context.eventLoop)
        } catch let absence as PictureAbsence {
            throw Problem(absence, without: "The job ended without what it would show.")
        } catch let failure as ReelFailure where failure.kind == .input {
            // The source was moved or cannot be read, or its upload has expired.
            throw FileRoutes.missing(failure.reason.code, "The file that it would show cannot be read any more.")
        }
    }

    private func side(_ context: ServerContext) throws -> JobPictures.Side {
        let text = try context.parameters.require("side")
        if let side = JobPictures.Side(rawValue: text) { return side }
        throw FileRoutes.missing("side-unknown", "There are pictures of source and output; this is \(text).")
    }

    private static func missing(_ code: String, _ detail: String) -> Problem {
        Problem(.notFound, code, "There is no such picture", detail: detail)
    }
}

extension Problem {
    /// Why there is no proxy of a file: it takes too long, or too much memory, or cannot be decoded or scaled.
    fileprivate init(ofProxy failure: ReelFailure) {
        switch (failure.reason, failure.kind) {
        case (.jobUnknown, _): self.init(failure)
        case (.engineHung, _):
            self.init(
                .unprocessableContent, "proxy-slow", "There is no proxy of this file",
                detail: "Making it takes too long. Its frames can be seen one by one.")
        case (_, .input), (_, .usage):
            self.init(
                .unprocessableContent, failure.reason.code, "There is no proxy of this file",
                detail: "None can be made of it. Its frames can be seen one by one.")
        default: self.init(failure)
        }
    }

    /// - Parameter without: why there will never be a picture.
    init(_ absence: PictureAbsence, without: String) {
        switch absence {
        case .notYet:
            self.init(
                .serviceUnavailable, "picture-not-yet", "The picture is not there yet",
                detail: "What it would show has not been read or made yet.", retryAfter: 5)
        case .busy:
            self.init(
                .serviceUnavailable, "pictures-busy", "Too many pictures are waited for",
                detail: "Ask for it again in a moment.", retryAfter: 5)
        case .beyond(let frames):
            self.init(
                .notFound, "frame-unknown", "There is no such picture",
                detail: "There are \(frames) frames, counted from 0.")
        case .none: self.init(.notFound, "picture-missing", "There is no such picture", detail: without)
        }
    }
}

/// An answer with the bytes of a file or an object, or a range of them, as of RFC 9110. Reads a piece at a time.
///
/// Hummingbird's own answers with files mistake "the last n bytes" for the first ones and identify a file by its time
/// alone.
struct FileAnswer {
    let file: any StoredBytes
    let name: String
    /// The hash that the bytes must have, in hexadecimal; nil if none is recorded.
    let sha256: String?
    /// The files whose bytes have been compared with their hashes.
    var compared: ComparedFiles?
    let isAttachment: Bool

    /// Identifies the bytes: by their hash, or by what the store knows of them.
    private var tag: String { "\"\(sha256 ?? file.mark)\"" }

    /// - Parameter eventLoop: of the caller's connection.
    func response(to request: Request, at eventLoop: any EventLoop) throws -> Response {
        var headers: HTTPFields = [
            .eTag: tag, .acceptRanges: "bytes", .contentType: mediaType ?? "application/octet-stream",
            .cacheControl: "private, no-cache",
        ]
        headers[.contentDisposition] =
            "\(isAttachment || mediaType == nil ? "attachment" : "inline"); filename*=UTF-8''\(encodedName)"
        // Even if a browser shows the file as a page, none of its scripts run.
        headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        if let sha256, let digest = FileAnswer.base64(hex: sha256) { headers[.reprDigest] = "sha-256=:\(digest):" }
        if let wanted = request.headers[.ifMatch], !FileAnswer.list(wanted, has: tag, isStrong: true) {
            var problem = Problem(
                .preconditionFailed, "bytes-differ", "The bytes are others",
                detail: "If-Match names others than the file has now.")
            problem.headers[.eTag] = tag
            throw problem
        }
        if let known = request.headers[.ifNoneMatch], FileAnswer.list(known, has: tag) {
            return Response(status: .notModified, headers: headers)
        }
        let isSame = request.headers[.ifRange].map { $0 == tag } ?? true
        guard isSame, request.method != .head, let text = request.headers[.range], let wanted = ByteRange(text) else {
            headers[.contentLength] = String(file.bytes)
            return Response(status: .ok, headers: headers, body: body(0..<file.bytes, isWhole: true, at: eventLoop))
        }
        guard let range = wanted.range(of: file.bytes) else {
            var problem = Problem(
                .rangeNotSatisfiable, "range-unsatisfiable", "The file has no byte of the range",
                detail: "It has \(file.bytes) bytes.")
            problem.headers[.contentRange] = "bytes */\(file.bytes)"
            throw problem
        }
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes)"
        headers[.contentLength] = String(range.count)
        return Response(status: .partialContent, headers: headers, body: body(range, isWhole: false, at: eventLoop))
    }

    /// - Parameter isWhole: whether the range is the whole file. If its bytes have not been compared with the hash
    ///   since the file changed, that is done before the last piece is sent. If they differ the connection is cut, so
    ///   that no reader takes the file for whole.
    private func body(_ range: Range<Int64>, isWhole: Bool, at eventLoop: any EventLoop) -> ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            try await send(range, isWhole: isWhole, at: eventLoop, to: &writer) { _ in }
            try await writer.finish(nil)
        }
    }

    /// Sends a range, as `body` does.
    ///
    /// - Parameter noting: gets each piece before it is sent.
    func send(
        _ range: Range<Int64>, isWhole: Bool, at eventLoop: any EventLoop, to writer: inout any ResponseBodyWriter,
        noting: (ByteBuffer) -> Void
    ) async throws {
        let isCompared = compared?.has(file.mark) ?? true
        let hash = isWhole && sha256 != nil && !isCompared ? SHA256() : nil
        var ready = try await piece(at: range.lowerBound, of: range, hash)
        var place = range.lowerBound
        while place < range.upperBound {
            let (buffer, hash) = ready
            let end = place + Int64(buffer.readableBytes)
            // The next piece is read while this one is sent.
            async let next = piece(at: end, of: range, hash)
            if end == range.upperBound, let found = hash?.finalize() {
                guard Hexadecimal.text(found) == sha256 else {
                    throw ReelFailure(.storeFileForeign(path: file.name))
                }
                compared?.insert(file.mark)
            }
            noting(buffer)
            try await writer.write(buffer)
            // A write leaves the piece to the connection's event loop, which only then notices that the connection
            // is full. Without a turn of it, a disk that is faster than the loop would fill the memory.
            try await eventLoop.submit {}.get()
            ready = try await next
            place = end
        }
    }

    /// The piece of a range that begins at a place, and the hash updated with it; an empty piece at the end of the
    /// range.
    private func piece(at place: Int64, of range: Range<Int64>, _ hash: SHA256?) async throws -> (ByteBuffer, SHA256?) {
        let count = Int(min(Int64(file.piece), range.upperBound - place))
        guard count > 0 else { return (ByteBuffer(), hash) }
        // While the store hangs, a download that has begun waits: the status has been sent.
        return try await StoreExecutor.shared.run { [file] in
            let bytes = try await file.read(place..<place + Int64(count))
            guard bytes.count == count else { throw ReelFailure(.storeFileForeign(path: file.name)) }
            var hash = hash
            hash?.update(data: bytes)
            return (ByteBuffer(bytes: bytes), hash)
        }
    }

    /// The files that browsers play or show. A caller chose the name, so no type here may be one that a browser runs.
    private static let mediaTypes = [
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "mkv": "video/x-matroska",
        "webm": "video/webm", "ts": "video/mp2t", "avi": "video/x-msvideo", "mxf": "application/mxf",
        "gif": "image/gif", "apng": "image/apng", "webp": "image/webp", "jpg": "image/jpeg",
        "m4a": "audio/mp4", "mp3": "audio/mpeg", "flac": "audio/flac", "wav": "audio/wav", "ogg": "audio/ogg",
        "opus": "audio/ogg",
    ]

    private var mediaType: String? { FileAnswer.mediaTypes[URL(fileURLWithPath: name).pathExtension.lowercased()] }

    private var encodedName: String {
        name.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")) ?? "video"
    }

    /// Whether a list of tags names this one, or any.
    private static func list(_ text: String, has tag: String, isStrong: Bool = false) -> Bool {
        // Commas are allowed within the quotes of a tag.
        text.matches(of: /(?:W\/)?"[^"]*"|\*/).contains {
            $0.output == tag || $0.output == "*" || !isStrong && $0.output == "W/\(tag)"
        }
    }

    private static func base64(hex: String) -> String? {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count else { return nil }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return Data(bytes).base64EncodedString()
    }
}

package enum ByteRange: Hashable {
    /// From the first to the last, both included; nil to the end.
    case from(Int64, to: Int64?)
    /// The last bytes; their number.
    case last(Int64)

    /// Nil for a header that a server may ignore: with other units, several ranges, or no range.
    package init?(_ header: String) {
        guard let match = header.wholeMatch(of: /(?i:bytes)=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*/) else {
            return nil
        }
        switch (Int64(match.1), Int64(match.2)) {
        case (let first?, let last):
            if let last, last < first { return nil }
            self = .from(first, to: last)
        case (nil, let count?): self = .last(count)
        case (nil, nil): return nil
        }
    }

    /// The bytes of the range that a file has; nil if it does not have any of them.
    package func range(of bytes: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < bytes else { return nil }
            return first..<(min(last ?? bytes - 1, bytes - 1) + 1)
        case .last(let count):
            guard count > 0, bytes > 0 else { return nil }
            return max(bytes - count, 0)..<bytes
        }
    }
}

/// The results whose bytes this server has compared with their hashes, each until its file changes. Hashing a file
/// takes longer than sending it, so a file is not hashed for every download.
final class ComparedFiles: Sendable {
    private let marks = Mutex<Set<String>>([])
    private static let most = 10_000

    func has(_ mark: String) -> Bool { marks.withLock { $0.contains(mark) } }

    /// Forgets all others if they are too many.
    func insert(_ mark: String) {
        marks.withLock {
            if $0.count >= ComparedFiles.most { $0 = [] }
            $0.insert(mark)
        }
    }
}
