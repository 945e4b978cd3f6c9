internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import ReelCore

/// An attempt that may succeed when it is made again.
struct Passing: Error {
    var said: String
    /// What the server asked for.
    var wait: Duration?
}

/// How something on a server is tried again: for a limited time, with pauses that grow and are drawn at random.
struct Persistence {
    private let patience: Duration
    private let unanswered: @Sendable (_ said: String) -> ReelFailure
    private var begun = ContinuousClock.now
    private var attempts = 0

    /// How often a server that answers is asked at least: on a busy machine the time may be over after one answer.
    private static let leastAttempts = 5

    /// - Parameters:
    ///   - patience: how long it is tried without progress.
    ///   - unanswered: the failure after that time.
    init(_ patience: Duration, _ unanswered: @escaping @Sendable (_ said: String) -> ReelFailure) {
        (self.patience, self.unanswered) = (patience, unanswered)
    }

    /// Something of it succeeded, so the time begins anew.
    mutating func progressed() { (begun, attempts) = (.now, 0) }

    /// Waits before another attempt. Throws the failure if another attempt cannot succeed, or has been tried for long.
    mutating func rest(after error: any Error) async throws(ReelFailure) {
        if let failure = error as? ReelFailure { throw failure }
        guard !Task.isCancelled, !(error is CancellationError) else { throw ReelFailure(.interrupted) }
        attempts += 1
        let passing = error as? Passing ?? Passing(said: Persistence.words(error))
        let usual = Duration.seconds(min(0.1 * Double(1 << min(attempts, 7)), 10) * Double.random(in: 0.5...1))
        let pause = min(max(passing.wait ?? .zero, usual), .seconds(30))
        let isAnswered = error is Passing && attempts < Persistence.leastAttempts
        let spent = isAnswered ? .zero : begun.duration(to: .now)
        guard spent + pause < patience, !Persistence.isOfCertificate(error) else { throw unanswered(passing.said) }
        do { try await Task.sleep(for: pause) } catch { throw ReelFailure(.interrupted) }
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
