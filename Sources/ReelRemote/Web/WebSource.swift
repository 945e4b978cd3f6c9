internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore
internal import Synchronization

/// A file on a web server.
final class WebSource: RangedBytes {
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

    private static let mostRedirections = 5

    init(_ url: WebURL, _ hosts: SourceHosts) {
        (self.url, self.hosts) = (url, hosts)
        state = Mutex(State(place: url))
    }

    var shown: String { url.shown }

    func unanswered(_ said: String) -> ReelFailure { ReelFailure(.urlUnanswered(url: shown, said: said)) }

    func turn() {
        state.withLock { state in
            (state.place, state.clients) = (url, [:])
            state.turn += 1
        }
    }

    func ask(for range: Range<Int64>, of version: WebVersion?) async throws -> RangeAnswer {
        let known = state.withLock(\.place)
        do { return try await ask(for: range, of: version, at: known) } catch let failure as ReelFailure {
            // The place to which a redirection led may have run out.
            guard known != url, case .urlRefused = failure.reason else { throw failure }
            return try await ask(for: range, of: version, at: url)
        }
    }

    private func ask(
        for range: Range<Int64>, of version: WebVersion?, at start: WebURL
    ) async throws -> RangeAnswer {
        var place = start
        for _ in 0...WebSource.mostRedirections {
            var request = HTTPClientRequest.of(.GET, place.text)
            let fields = HTTPClientRequest.fields(for: range, of: version) + [("Accept-Encoding", "identity")]
            for (name, value) in fields { request.headers.add(name: name, value: value) }
            let answer = try await client(for: place).execute(request, deadline: .distantFuture)
            guard (300..<400).contains(answer.status.code), let location = answer.headers.first(name: "Location") else {
                let found = try accept(answer, of: version)
                state.withLock { $0.place = place }
                return found
            }
            place = try redirected(from: place, to: location)
        }
        throw ReelFailure(.urlMisanswered(url: shown, said: "more than \(WebSource.mostRedirections) redirections"))
    }

    private func redirected(from place: WebURL, to location: String) throws(ReelFailure) -> WebURL {
        guard let next = URL(string: location, relativeTo: URL(string: place.text)),
            let url = try? WebURL(next.absoluteString.prefix { $0 != "#" }.description)
        else {
            let shown = WebAddress.shown(String(location.prefix(200)))
            throw ReelFailure(.urlMisanswered(url: self.shown, said: "a redirection to \(shown)"))
        }
        guard url.isSecure || !place.isSecure else {
            throw ReelFailure(.urlMisanswered(url: shown, said: "a redirection without TLS to \(url.shown)"))
        }
        return url
    }

    private func client(for place: WebURL) async throws(ReelFailure) -> HTTPClient {
        let turn = state.withLock(\.turn)
        if let known = state.withLock({ $0.clients[place.host] }) { return known.client }
        let addresses = try await hosts.addresses(of: place, redirectedFrom: place == url ? nil : url)
        let made = OwnedClient((place.host, at: addresses[turn % addresses.count]))
        state.withLock { $0.clients[place.host] = made }
        return made.client
    }

    private func accept(_ answer: HTTPClientResponse, of version: WebVersion?) throws -> RangeAnswer {
        if let taken = try taken(answer, of: version) { return taken }
        throw answer.passing ?? ReelFailure(.urlRefused(url: shown, status: Int(answer.status.code)))
    }
}
