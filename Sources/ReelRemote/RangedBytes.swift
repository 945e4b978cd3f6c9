internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore

/// Bytes on a server that are read by ranges.
///
/// Source of the rules: RFC 9110, sections 13 (conditional requests) and 14 (range requests).
protocol RangedBytes: Sendable {
    /// Their name in messages.
    var shown: String { get }

    /// The failure if the server has not answered for long.
    func unanswered(_ said: String) -> ReelFailure

    /// Asks for a range of a version, or of the one that there is. Throws a `ReelFailure`, and anything else for what may
    /// pass.
    func ask(for range: Range<Int64>, of version: WebVersion?) async throws -> RangeAnswer

    /// Asks in another way the next time, since an attempt failed.
    func turn()
}

struct RangeAnswer {
    let range: Range<Int64>
    let version: WebVersion
    let body: HTTPClientResponse.Body
}

/// How long bytes are tried to be read without getting one.
private let readPatience = Duration.seconds(60)
/// The same for the first look at them.
private let lookPatience = Duration.seconds(5)

extension RangedBytes {
    /// Reads a range of bytes of a version, and hands them on in order.
    ///
    /// Throws `.sourceReplaced` if the server has another version, `unanswered` if it does not answer for a minute, and
    /// `.input`.
    func read(
        _ range: Range<Int64>, of version: WebVersion,
        _ take: (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        var next = range.lowerBound
        var persistence = Persistence(readPatience, unanswered)
        while next < range.upperBound {
            let before = next
            do {
                let answer = try await answer(to: next..<range.upperBound, of: version)
                guard answer.version.isSame(as: version) else { throw ReelFailure(.sourceReplaced(path: shown)) }
                let end = min(answer.range.upperBound, range.upperBound)
                try await consume(answer.body, end - next) { bytes in
                    try take(bytes, next)
                    next += Int64(bytes.count)
                }
                persistence.progressed()
            } catch {
                if next > before { persistence.progressed() }
                try await persistence.rest(after: error)
                turn()
            }
        }
    }

    /// The version that the server has now, its first bytes and its last ones, `count` of each at most.
    ///
    /// Throws `.urlWithoutRanges` and `.sourceEmpty`, and what `read` throws.
    func look(_ count: Int64) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
        let (version, first) = try await begin(count)
        var last = first
        if version.size > Int64(first.count) {
            last = []
            try await read(version.size - Int64(first.count)..<version.size, of: version) { part, _ in last += part }
        }
        return (version, first, last)
    }

    /// The version that the server has now, and its first bytes, `count` at most. Throws as `look` does.
    func begin(_ count: Int64) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8]) {
        var persistence = Persistence(lookPatience, unanswered)
        while true {
            do {
                let answer = try await answer(to: 0..<count, of: nil)
                var first: [UInt8] = []
                try await consume(answer.body, min(count, answer.version.size)) { first += $0 }
                return (answer.version, first)
            } catch {
                try await persistence.rest(after: error)
                turn()
            }
        }
    }

    private func answer(to range: Range<Int64>, of version: WebVersion?) async throws -> RangeAnswer {
        let answer = try await ask(for: range, of: version)
        guard answer.range.lowerBound == range.lowerBound else {
            throw ReelFailure(.urlMisanswered(url: shown, said: "another range than the one asked for"))
        }
        return answer
    }

    /// Hands on the bytes of an answer. Throws a `ReelFailure`, and anything else for what may pass.
    private func consume(
        _ body: HTTPClientResponse.Body, _ count: Int64, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) async throws {
        var left = count
        for try await part in body {
            left -= Int64(part.readableBytes)
            guard left >= 0 else {
                throw ReelFailure(.urlMisanswered(url: shown, said: "more bytes than were asked for"))
            }
            try part.withUnsafeReadableBytes(take)
        }
        if left > 0 { throw Passing(said: "the answer ended early") }
    }

    /// Takes the answer to a request for a range if its status is 200, 206, 412 or 416; nil for others.
    ///
    /// Throws `.urlWithoutRanges`, `.sourceReplaced`, `.sourceEmpty` and `.urlMisanswered`.
    func taken(_ answer: HTTPClientResponse, of version: WebVersion?) throws(ReelFailure) -> RangeAnswer? {
        switch answer.status.code {
        case 206: break
        case 200: throw ReelFailure(.urlWithoutRanges(url: shown))
        case 412: throw ReelFailure(.sourceReplaced(path: shown))
        case 416: throw ReelFailure(version == nil ? .sourceEmpty(path: shown) : .sourceReplaced(path: shown))
        default: return nil
        }
        guard ["identity", nil].contains(answer.headers.first(name: "Content-Encoding")) else {
            throw ReelFailure(.urlMisanswered(url: shown, said: "bytes in another encoding"))
        }
        guard let text = answer.headers.first(name: "Content-Range"),
            let parts = text.wholeMatch(of: /bytes (\d{1,18})-(\d{1,18})\/(\d{1,18})/),
            let first = Int64(parts.1), let last = Int64(parts.2), let size = Int64(parts.3), first <= last, last < size
        else { throw ReelFailure(.urlMisanswered(url: shown, said: "no Content-Range, or a malformed one")) }
        let tag = answer.headers.first(name: "ETag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
        let modified = answer.headers.first(name: "Last-Modified").flatMap { try? Date($0, strategy: httpDates) }
        return RangeAnswer(
            range: first..<last + 1,
            version: WebVersion(size: size, tag: tag, modified: modified.map { Int64($0.timeIntervalSince1970) }),
            body: answer.body)
    }
}

extension HTTPClientResponse {
    /// The error if the server asks for another attempt; nil for other answers.
    var passing: Passing? {
        guard [408, 429].contains(status.code) || (500..<600).contains(status.code) else { return nil }
        let seconds = headers.first(name: "Retry-After").flatMap { Int($0) }
        return Passing(said: "\(status)", wait: seconds.map { .seconds(min(max($0, 0), 60)) })
    }
}

/// Source: RFC 9110, section 5.6.7.
let httpDates = Date.ParseStrategy(
    format: """
        \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
        \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
        """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt)

extension WebVersion {
    /// Whether bytes of this version are bytes of another. By the tag if both have one: a proxy may leave it out.
    fileprivate func isSame(as other: WebVersion) -> Bool {
        guard size == other.size else { return false }
        if let tag, let theirs = other.tag { return tag == theirs }
        return modified == nil || other.modified == nil || modified == other.modified
    }
}
