internal import Foundation
internal import Hummingbird
internal import ReelCore
internal import Synchronization

/// Finds out who makes a request. Changes of the file of tokens take effect within a second.
final class Gate: Sendable {
    private let file: TokenFile?
    private let state = Mutex(State())

    private struct State {
        var entries: [TokenFile.Entry] = []
        /// When the file was last checked, and its state then.
        var looked: ContinuousClock.Instant?
        var seen: FileState?
        /// The times of wrong tokens within the last minute, by address.
        var wrong: [String: [ContinuousClock.Instant]] = [:]
    }

    private struct FileState: Equatable {
        var changed: Date?
        var size: Int?
        var number: UInt64?
    }

    /// The most wrong tokens of an address within a minute.
    static let mostWrong = 10
    static let cookie = "reel-token"

    /// - Parameter file: nil if every caller may do all.
    init(_ file: TokenFile?) throws(ReelFailure) {
        self.file = file
        guard let file else { return }
        let entries = try file.read()
        state.withLock { $0.entries = entries }
    }

    var isClosed: Bool { file != nil }

    /// Who makes a request. Throws a problem of status 429 if the address has sent too many wrong tokens, and of status
    /// 401 if this one is wrong.
    func caller(of request: Request, from address: String) throws -> Caller {
        guard isClosed else { return .anyone }
        guard let token = Gate.token(of: request) else { return .nobody }
        return try caller(token, from: address)
    }

    /// Who makes a request; `.nobody` if its token is unknown, which is not counted then.
    func callerIfKnown(of request: Request) -> Caller {
        guard isClosed else { return .anyone }
        return Gate.token(of: request).flatMap(bearer) ?? .nobody
    }

    private func bearer(of token: String) -> Caller? {
        refresh()
        let entry = state.withLock(\.entries).first { $0.matches(token) }
        return entry.map { Caller(name: $0.name, role: $0.role) }
    }

    /// The bearer of a token. Throws as `caller(of:from:)` does. A right token is taken however many wrong ones came
    /// from the address: many people may share it.
    func caller(_ token: String, from address: String) throws -> Caller {
        if let bearer = bearer(of: token) { return bearer }
        let now = ContinuousClock.now
        let wait: Duration? = state.withLock { state in
            if state.wrong.count > 10_000 {
                state.wrong = state.wrong.filter { $0.value.contains { now - $0 < .seconds(60) } }
            }
            var times = state.wrong[address, default: []].filter { now - $0 < .seconds(60) }
            defer { state.wrong[address] = times }
            guard times.count < Gate.mostWrong else { return .seconds(60) - (now - times[0]) }
            times.append(now)
            return nil
        }
        if let wait {
            throw Problem(
                .tooManyRequests, "too-many-tokens", "Too many wrong tokens",
                detail: "More than \(Gate.mostWrong) wrong tokens came from \(address) within a minute.",
                retryAfter: Int(wait.components.seconds) + 1)
        }
        throw Problem(
            .unauthorized, "token-unknown", "The token is not known",
            detail: "This server does not have the token that was sent. Make one with reel-server token.")
    }

    private static func token(of request: Request) -> String? {
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            let isBearer = parts.count == 2 && parts[0].lowercased() == "bearer"
            return isBearer ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        return request.cookies[cookie]?.value
    }

    private func refresh() {
        guard let file else { return }
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard now - (state.looked ?? now - .seconds(2)) >= .seconds(1) else { return false }
            state.looked = now
            return true
        }
        guard isDue else { return }
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        let found = FileState(
            changed: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int,
            number: attributes?[.systemFileNumber] as? UInt64)
        guard state.withLock({ $0.seen != found }) else { return }
        // Without a readable file no token is right.
        let entries = (try? file.read()) ?? []
        state.withLock { ($0.seen, $0.entries) = (found, entries) }
    }
}
