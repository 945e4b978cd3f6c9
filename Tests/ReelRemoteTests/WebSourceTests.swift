import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelRandom
import ReelRemote
import ReelStore
import ReelTestSupport
import ReelWords
import Testing

private let day = "Tue, 24 Nov 2026 08:49:37 GMT"

/// Sources on web servers, as engines get them.
@Suite struct WebSourceTests {
    private func sources(_ hosts: SourceHosts = .any) -> NetworkSources {
        NetworkSources(hosts, ObjectStore(), scratch: FileManager.default.temporaryDirectory.path)
    }

    /// Opens the file of a server as the version that it is now.
    private func open(_ server: FileServer) async throws -> any FetchedSource {
        let version = try await sources().look(at: server.url, 1024).version
        return try await sources().open(.web(server.url, version))
    }

    private func bytes(_ range: Range<Int64>, of source: any FetchedSource) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: source.path))
        try file.seek(toOffset: UInt64(range.lowerBound))
        return try file.read(upToCount: range.count) ?? Data()
    }

    @Test(arguments: [1, 1000, 3 << 20])
    func aFingerprintIsThatOfSizeVersionAndEnds(size: Int) async throws {
        let content = randomBytes(size)
        let server = try FileServer(.init(content, tag: "\"v1\"", modified: day))
        let found = try await sources().fingerprints(of: [server.url, "/a/file.mp4", server.url])
        let print = try #require(found[server.url])
        #expect(found.count == 1)
        #expect(print.size == Int64(size) && print.tag == "\"v1\"")
        #expect(print.mtimeNanoseconds == 1_795_510_177_000_000_000)
        let edge = 1 << 20
        #expect(print.edges == Fingerprint.sha256Hex(Array(content.prefix(edge) + content.suffix(edge))))
        #expect(server.requests.count <= 3)
        let other = try FileServer(.init(content, tag: "W/\"v1\""))
        let weak = try #require(try await sources().fingerprints(of: [other.url])[other.url])
        #expect(weak.tag == nil && weak.mtimeNanoseconds == 0 && weak.edges == print.edges)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func rangesComeAsTheyAreAlthoughAThirdOfTheRequestsFail(seed: UInt64) async throws {
        let content = randomBytes(1 << 20, seed: seed)
        let server = try FileServer(.init(content, tag: "\"v1\"")) { _, number in
            var random = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
            guard Int.random(in: 0..<3, using: &random) == 0 else { return nil }
            let faults: [FileServer.Fault] = [
                .status(500), .status(503, ["Retry-After: 0"]), .status(429),
                .cut(Int.random(in: 0..<9000, using: &random)),
                .reset(Int.random(in: 0..<9000, using: &random)),
            ]
            return faults.randomElement(using: &random)
        }
        let source = try await open(server)
        #expect(source.size == 1 << 20)
        var random = SplitMix64(seed: seed)
        for _ in 0..<20 {
            let start = Int64.random(in: 0..<1 << 20, using: &random)
            let range = start..<Int64.random(in: start + 1...min(start + 100_000, 1 << 20), using: &random)
            try await source.fetch(range)
            #expect(try bytes(range, of: source) == content[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        source.discard(0..<1 << 20)
        #expect(try bytes(0..<1 << 20, of: source) == Data(repeating: 0, count: 1 << 20))
        try await source.fetch(4096..<8192)
        #expect(try bytes(4096..<8192, of: source) == content[4096..<8192])
        #expect(server.requests.count >= 25)
    }

    @Test(arguments: [
        FileServer.Content(Data(repeating: 1, count: 5000), tag: "\"v2\"", modified: day),
        FileServer.Content(Data(repeating: 1, count: 5001), tag: nil, modified: day),
        FileServer.Content(Data(repeating: 1, count: 5000), tag: nil, modified: "Tue, 24 Nov 2026 08:49:38 GMT"),
    ])
    func bytesThatChangedAreNotTaken(_ changed: FileServer.Content) async throws {
        var content = changed
        content.bytes = Data(repeating: 1, count: 5000)
        content.tag = changed.tag.map { _ in "\"v1\"" }
        content.modified = day
        let server = try FileServer(content)
        let source = try await open(server)
        try await source.fetch(0..<10)
        server.replace(by: changed)
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await source.fetch(10..<20) })
        #expect(failure.reason == .sourceReplaced(path: WebAddress.shown(server.url)))
        #expect(try bytes(10..<20, of: source) == Data(repeating: 0, count: 10))
    }

    @Test func aServerThatBreaksTheProtocolIsNamed() async throws {
        let shown = "http://127.0.0.1:PORT/films/my%20film.mp4?…"
        let cases: [(FileServer.Fault, FailureReason)] = [
            (.whole, .urlWithoutRanges(url: shown)),
            (.status(404), .urlRefused(url: shown, status: 404)),
            (.status(403), .urlRefused(url: shown, status: 403)),
            (.status(416), .sourceEmpty(path: shown)),
            (.encoded, .urlMisanswered(url: shown, said: "bytes in another encoding")),
            (.excess, .urlMisanswered(url: shown, said: "more bytes than were asked for")),
            (.otherRange, .urlMisanswered(url: shown, said: "another range than the one asked for")),
            (.status(206), .urlMisanswered(url: shown, said: "no Content-Range, or a malformed one")),
            (
                .status(302, ["Location: file:///etc/passwd"]),
                .urlMisanswered(url: shown, said: "a redirection to file:///etc/passwd")
            ),
            (
                .status(307, ["Location: http://169.254.169.254/latest?key=secret"]),
                .urlHostForbidden(url: "http://169.254.169.254/latest?…")
            ),
        ]
        for (fault, reason) in cases {
            let server = try FileServer(.init(randomBytes(5000))) { _, _ in fault }
            let failure = try #require(
                await #expect(throws: ReelFailure.self) { try await sources().look(at: server.url, 1000) })
            let port = try #require(URL(string: server.url)?.port)
            let said = "\(failure.reason)".replacing("\(port)", with: "PORT")
            #expect(said == "\(reason)")
            #expect(!failure.words.contains("secret") && failure.exitCode == 3)
        }
    }

    @Test func redirectionsAreFollowedFiveTimesAndRemembered() async throws {
        let content = randomBytes(5000)
        let target = try FileServer(.init(content))
        let hops = try FileServer(.init(Data())) { message, _ in
            let hop = Int(message.path.dropFirst(4)) ?? 1
            return .status(302, ["Location: " + (hop < 5 ? "/hop\(hop + 1)" : target.url)])
        }
        let source = try await open(hops)
        try await source.fetch(0..<5000)
        #expect(try bytes(0..<5000, of: source) == content)
        let count = hops.requests.count
        try await source.fetch(0..<100)
        #expect(hops.requests.count == count)
        let endless = try FileServer(.init(Data())) { _, number in .status(302, ["Location: /\(number)"]) }
        let failure = try #require(
            await #expect(throws: ReelFailure.self) { try await sources().look(at: endless.url, 1000) })
        #expect(failure.words.hasSuffix("more than 5 redirections"))
        #expect(endless.requests.count == 6)
    }

    @Test func aRedirectionWhosePlaceRunsOutIsFollowedAnew() async throws {
        let content = randomBytes(5000)
        let first = try FileServer(.init(content)) { _, number in number > 3 ? .status(403) : nil }
        let second = try FileServer(.init(content))
        let way = try FileServer(.init(Data())) { _, number in
            .status(302, ["Location: \(number < 3 ? first.url : second.url)"])
        }
        let source = try await open(way)
        #expect(way.requests.count == 1 && first.requests.count == 2)
        try await source.fetch(0..<100)
        try await source.fetch(0..<5000)
        #expect(try bytes(0..<5000, of: source) == content)
        #expect([way, first, second].map(\.requests.count) == [3, 4, 1])
    }

    @Test func aServerThatIsNotThereIsNamedSoon() async throws {
        let url = try FileServer(.init(Data())).url
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await sources().look(at: url, 1000) })
        #expect(failure.reason == .urlUnanswered(url: WebAddress.shown(url), said: "Connection refused"))
        #expect(failure.cause == .transient && failure.exitCode == 3)
    }

    @Test func onlyHostsThatAreAllowedAreAsked() async throws {
        let server = try FileServer(.init(randomBytes(5000)))
        func look(_ allowed: [String], _ url: String) async -> ReelFailure? {
            let hosts = SourceHosts(allowed.compactMap { AllowedHost($0) }, buckets: [])
            do throws(ReelFailure) { _ = try await sources(hosts).look(at: url, 1000) } catch { return error }
            return nil
        }
        let named = server.url.replacing("127.0.0.1", with: "localhost")
        #expect(await look([], server.url)?.reason == .urlHostForbidden(url: WebAddress.shown(server.url)))
        #expect(await look(["media.example.org"], named)?.cause == .incompatible)
        #expect(await look(["127.0.0.0/8"], server.url) == nil)
        #expect(await look(["localhost"], named) == nil)
        #expect(server.requests.count == 4)
        let away = try FileServer(.init(Data())) { _, _ in .status(302, ["Location: \(server.url)"]) }
        let redirected = away.url.replacing("127.0.0.1", with: "localhost")
        #expect(await look(["localhost"], redirected)?.reason == .urlHostForbidden(url: WebAddress.shown(server.url)))
        #expect(await look(["localhost", "127.0.0.1"], redirected) == nil)
    }

    @Test(arguments: ["https://", "http://me:secret@host/film.mp4", "http://host/film#t=secret"])
    func whatIsNoURLIsRefused(_ url: String) async throws {
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await sources().look(at: url, 1000) })
        #expect(failure.kind == .usage)
        guard case .urlInvalid = failure.reason else { return #expect(Bool(false), "\(failure.reason)") }
    }
}
