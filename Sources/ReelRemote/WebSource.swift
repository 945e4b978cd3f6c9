internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import ReelCore
internal import Synchronization

/// A file on a web server. It is read by ranges.
///
/// Source of the rules: RFC 9110, sections 13 (conditional requests) and 14 (range requests).
final class WebSource: Sendable {
    private let url: WebURL
    private let hosts: SourceHosts
    private let state: Mutex<State>

    private struct State {
        /// Where redirections have led.
        var place: WebURL
        var clients: [WebURL.Host: OwnedClient] = [:]
        /// Which of a host's addresses is asked: another one after each failure.
        var turn = 0
    }

    /// Something that may be over when it is tried again.
    private struct Passing: Error {
        var said: String
        /// What the server asked for.
        var wait: Duration?
    }

    private struct Answer {
        let range: Range<Int64>
        let version: WebVersion
        let body: HTTPClientResponse.Body
    }

    /// How long a request may go on without a byte.
    private static let stall = TimeAmount.seconds(30)
    /// How long a read is tried again without a byte, and the first look at a server.
    private static let patience = (read: Duration.seconds(60), look: Duration.seconds(5))
    /// How often a server that answers is asked at least: on a busy machine the time may be over after one answer.
    private static let leastAttempts = 5
    private static let mostRedirections = 5

    /// Source: RFC 9110, section 5.6.7.
    private static let dates = Date.ParseStrategy(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
            """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt)

    init(_ url: WebURL, _ hosts: SourceHosts) {
        (self.url, self.hosts) = (url, hosts)
        state = Mutex(State(place: url))
    }

    /// Reads a range of bytes of a version, and hands them on in order.
    ///
    /// Throws `.sourceReplaced` if the server has another version, `.urlUnanswered` if it does not answer for a minute, and
    /// `.input`.
    func read(
        _ range: Range<Int64>, of version: WebVersion,
        _ take: (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        var (next, begun) = (range.lowerBound, ContinuousClock.now)
        var attempts = 0
        while next < range.upperBound {
            let before = next
            do {
                let answer = try await ask(for: next..<range.upperBound, of: version)
                guard answer.version.isSame(as: version) else { throw ReelFailure(.sourceReplaced(path: url.shown)) }
                let end = min(answer.range.upperBound, range.upperBound)
                try await consume(answer.body, end - next) { bytes in
                    try take(bytes, next)
                    next += Int64(bytes.count)
                }
                attempts = 0
            } catch {
                if next > before { (begun, attempts) = (.now, 0) }
                attempts += 1
                try await rest(after: error, attempts, since: begun, WebSource.patience.read)
            }
        }
    }

    /// The version that the server has now, its first bytes and its last ones, `count` of each at most.
    ///
    /// Throws `.urlWithoutRanges` and `.sourceEmpty`, and what `read` throws.
    func look(_ count: Int64) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
        let begun = ContinuousClock.now
        var attempts = 0
        while true {
            do {
                let answer = try await ask(for: 0..<count, of: nil)
                let version = answer.version
                let size = min(count, version.size)
                var first: [UInt8] = []
                try await consume(answer.body, size) { first += $0 }
                let last =
                    version.size == size ? first : try await bytes(version.size - size..<version.size, of: version)
                return (version, first, last)
            } catch {
                attempts += 1
                try await rest(after: error, attempts, since: begun, WebSource.patience.look)
            }
        }
    }

    /// Hands on the bytes of an answer. Throws a `ReelFailure`, and anything else for what may pass.
    private func consume(
        _ body: HTTPClientResponse.Body, _ count: Int64, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) async throws {
        var left = count
        for try await part in body {
            left -= Int64(part.readableBytes)
            guard left >= 0 else {
                throw ReelFailure(.urlMisanswered(url: url.shown, said: "more bytes than were asked for"))
            }
            try part.withUnsafeReadableBytes(take)
        }
        if left > 0 { throw Passing(said: "the answer ended early") }
    }

    private func bytes(_ range: Range<Int64>, of version: WebVersion) async throws(ReelFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        try await read(range, of: version) { part, _ in bytes += part }
        return bytes
    }

    // MARK: Requests

    /// Waits before another attempt. Throws the failure if another attempt cannot succeed, or has been tried for long.
    private func rest(
        after error: any Error, _ attempts: Int, since begun: ContinuousClock.Instant, _ patience: Duration
    ) async throws(ReelFailure) {
        if let failure = error as? ReelFailure { throw failure }
        guard !Task.isCancelled, !(error is CancellationError) else { throw ReelFailure(.interrupted) }
        let passing = error as? Passing ?? Passing(said: WebSource.words(error))
        let usual = Duration.seconds(min(0.1 * Double(1 << min(attempts, 7)), 10) * Double.random(in: 0.5...1))
        let pause = min(max(passing.wait ?? .zero, usual), .seconds(30))
        // The attempts of a server that answers take no time of their own.
        let isAnswered = error is Passing && attempts < WebSource.leastAttempts
        let spent = isAnswered ? .zero : begun.duration(to: .now)
        guard spent + pause < patience, !WebSource.isOfCertificate(error) else {
            throw ReelFailure(.urlUnanswered(url: url.shown, said: passing.said))
        }
        state.withLock { state in
            (state.place, state.clients) = (url, [:])
            state.turn += 1
        }
        do { try await Task.sleep(for: pause) } catch { throw ReelFailure(.interrupted) }
    }

    /// Asks for a range. Throws a `ReelFailure`, and anything else for what may pass.
    private func ask(for range: Range<Int64>, of version: WebVersion?) async throws -> Answer {
        let known = state.withLock(\.place)
        do { return try await ask(for: range, of: version, at: known) } catch let failure as ReelFailure {
            // The place to which a redirection led may have run out.
            guard known != url, case .urlRefused = failure.reason else { throw failure }
            return try await ask(for: range, of: version, at: url)
        }
    }

    private func ask(for range: Range<Int64>, of version: WebVersion?, at start: WebURL) async throws -> Answer {
        var place = start
        for _ in 0...WebSource.mostRedirections {
            var request = HTTPClientRequest(url: place.text)
            request.headers.add(name: "User-Agent", value: "reel/\(Release.version)")
            request.headers.add(name: "Accept-Encoding", value: "identity")
            request.headers.add(name: "Range", value: "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
            if let tag = version?.tag { request.headers.add(name: "If-Match", value: tag) }
            let answer = try await client(for: place).execute(request, deadline: .distantFuture)
            guard (300..<400).contains(answer.status.code), let location = answer.headers.first(name: "Location") else {
                let found = try accept(answer, of: version)
                guard found.range.lowerBound == range.lowerBound else {
                    throw ReelFailure(
                        .urlMisanswered(url: url.shown, said: "another range than the one asked for"))
                }
                state.withLock { $0.place = place }
                return found
            }
            place = try redirected(from: place, to: location)
        }
        throw ReelFailure(.urlMisanswered(url: url.shown, said: "more than \(WebSource.mostRedirections) redirections"))
    }

    private func redirected(from place: WebURL, to location: String) throws(ReelFailure) -> WebURL {
        guard let next = URL(string: location, relativeTo: URL(string: place.text)),
            let url = try? WebURL(next.absoluteString.prefix { $0 != "#" }.description)
        else {
            let shown = WebAddress.shown(String(location.prefix(200)))
            throw ReelFailure(.urlMisanswered(url: url.shown, said: "a redirection to \(shown)"))
        }
        guard url.isSecure || !place.isSecure else {
            throw ReelFailure(.urlMisanswered(url: self.url.shown, said: "a redirection without TLS to \(url.shown)"))
        }
        return url
    }

    private func client(for place: WebURL) async throws(ReelFailure) -> HTTPClient {
        let turn = state.withLock(\.turn)
        if let known = state.withLock({ $0.clients[place.host] }) { return known.client }
        let addresses = try await hosts.addresses(of: place, redirectedFrom: place == url ? nil : url)
        let made = OwnedClient(place.host, at: addresses[turn % addresses.count], stall: WebSource.stall)
        state.withLock { $0.clients[place.host] = made }
        return made.client
    }

    /// Takes the answer to a request for a range.
    private func accept(_ answer: HTTPClientResponse, of version: WebVersion?) throws -> Answer {
        switch answer.status.code {
        case 206: break
        case 200: throw ReelFailure(.urlWithoutRanges(url: url.shown))
        case 412: throw ReelFailure(.sourceReplaced(path: url.shown))
        case 416:
            throw ReelFailure(version == nil ? .sourceEmpty(path: url.shown) : .sourceReplaced(path: url.shown))
        case 408, 429, 500..<600:
            let seconds = answer.headers.first(name: "Retry-After").flatMap { Int($0) }
            throw Passing(said: "\(answer.status)", wait: seconds.map { .seconds(min(max($0, 0), 60)) })
        default: throw ReelFailure(.urlRefused(url: url.shown, status: Int(answer.status.code)))
        }
        guard ["identity", nil].contains(answer.headers.first(name: "Content-Encoding")) else {
            throw ReelFailure(.urlMisanswered(url: url.shown, said: "bytes in another encoding"))
        }
        guard let text = answer.headers.first(name: "Content-Range"),
            let parts = text.wholeMatch(of: /bytes (\d{1,18})-(\d{1,18})\/(\d{1,18})/),
            let first = Int64(parts.1), let last = Int64(parts.2), let size = Int64(parts.3), first <= last, last < size
        else { throw ReelFailure(.urlMisanswered(url: url.shown, said: "no Content-Range, or a malformed one")) }
        let tag = answer.headers.first(name: "ETag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
        let modified = answer.headers.first(name: "Last-Modified").flatMap { try? Date($0, strategy: WebSource.dates) }
        return Answer(
            range: first..<last + 1,
            version: WebVersion(size: size, tag: tag, modified: modified.map { Int64($0.timeIntervalSince1970) }),
            body: answer.body)
    }

    /// What an error of the client means.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError: error.connectionErrors.first.map { words($0.error) } ?? "\(error)"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "its certificate is for another name"
        case let error as HTTPClientError: error.shortDescription
        default: isOfCertificate(error) ? "its certificate is not of an authority that this machine trusts" : "\(error)"
        }
    }

    private static func isOfCertificate(_ error: any Error) -> Bool {
        if let error = error as? NIOSSLExtraError { return error == .failedToValidateHostname }
        return "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
    }
}

extension WebVersion {
    /// Whether bytes of this version are bytes of another. By the tag if both have one: a proxy may leave it out.
    fileprivate func isSame(as other: WebVersion) -> Bool {
        guard size == other.size else { return false }
        if let tag, let theirs = other.tag { return tag == theirs }
        return modified == nil || other.modified == nil || modified == other.modified
    }
}

/// A client for one host that asks it at one address.
private final class OwnedClient: Sendable {
    let client: HTTPClient

    init(_ host: WebURL.Host, at address: IPAddress, stall: TimeAmount) {
        var settings = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: stall),
            decompression: .disabled)
        settings.httpVersion = .http1Only
        // This type knows for how long to try.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2
        if case .name(let name) = host { settings.dnsOverride = [name: "\(address)"] }
        // As curl and OpenSSL have it.
        if let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"] {
            var security = TLSConfiguration.makeClientConfiguration()
            security.trustRoots = .file(authorities)
            settings.tlsConfiguration = security
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    deinit { client.shutdown(queue: .global()) { _ in } }
}
