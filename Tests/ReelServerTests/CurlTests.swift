import Foundation
import Glibc
import ReelCore
import ReelHost
import ReelRemote
import ReelServer
import ReelTestSupport
import Testing

/// What curl does with a message, and with which addresses.
@Suite struct CurlTests {
    private func message(
        _ url: String, at addresses: String..., body: Data = Data("{}".utf8), limit: Int = 20
    ) throws -> Curl.Message {
        Curl.Message(
            url: try WebURL(url), addresses: try addresses.map { try #require(IPAddress($0)) },
            fields: [("Content-Type", "application/json"), ("Reel-Event", "job.done")], body: body, limit: limit)
    }

    /// No server of names knows the host, so curl cannot have looked for it.
    @Test func aNameIsLookedForAtTheGivenAddressesAlone() async throws {
        let receiver = try HookReceiver()
        defer { receiver.end() }
        let url = "http://nobody-knows.invalid:\(receiver.port)/a;b?c=$HOME&d='$(id)'%22"
        #expect(try await Curl().post(message(url, at: "127.0.0.1")) == .status(204))
        #expect(receiver.messages.map(\.path) == ["/a;b?c=$HOME&d='$(id)'%22"])
        #expect(receiver.messages.map { $0.headers["host"] } == ["nobody-knows.invalid:\(receiver.port)"])
        // The other way round: localhost is not looked up.
        guard case .none = try await Curl().post(message("http://localhost:\(receiver.port)/", at: "127.0.0.2")) else {
            Issue.record("it was sent to another address")
            return
        }
        #expect(receiver.messages.count == 1)
    }

    @Test func aMachineWithoutCurlIsToldWhatToInstall() async throws {
        let failure = await #expect(throws: ReelFailure.self) {
            try await Curl(program: nil).post(message("https://a.example/", at: "192.0.2.1"))
        }
        #expect(failure?.reason == .curlNotInstalled)
    }

    @Test func anyBodyArrivesAsItIs() async throws {
        let receiver = try HookReceiver()
        defer { receiver.end() }
        let long = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) })
        let bodies = [Data("@/etc/passwd\n\n$x `id` \\ \"\r\n".utf8), Data(), long]
        for body in bodies {
            let url = "http://127.0.0.1:\(receiver.port)/"
            #expect(try await Curl().post(message(url, at: "127.0.0.1", body: body)) == .status(204))
        }
        #expect(receiver.messages.map(\.body) == bodies)
    }

    @Test(.enabled(if: Programs.installed("openssl") != nil, "openssl is not installed"))
    func aReceiverWhoseCertificateNobodySignedGetsNothing() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reel-curl-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appending(path: "key").path, folder.appending(path: "certificate").path)
        try openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out",
            certificate
        ).waitUntilExit()
        // Takes a port that is free, and says which.
        let said = Pipe()
        let receiver = try openssl(
            "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, output: said)
        // It inherits that SIGTERM is blocked on threads of this process.
        defer { kill(receiver.processIdentifier, SIGKILL) }
        var text = ""
        while !text.contains("ACCEPT ") || !text.hasSuffix("\n") {
            let more = said.fileHandleForReading.availableData
            try #require(!more.isEmpty, "openssl ended: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        let port = try #require(
            text.split(whereSeparator: { " :\n".contains($0) }).compactMap { Int($0) }.last, "\(text)")
        let answer = try await Curl().post(message("https://localhost:\(port)/", at: "127.0.0.1"))
        guard case .none(let said) = answer else {
            Issue.record("it was sent: \(answer)")
            return
        }
        #expect(said.hasPrefix("curl: (60) "), "\(said)")
    }

    private func openssl(_ arguments: String..., output: Pipe? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Programs.installed("openssl")))
        process.arguments = arguments
        // At the end of its input it would leave its callers.
        process.standardInput = Pipe()
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func aReceiverThatIsSilentOrElsewhereIsNone() async throws {
        let receiver = try HookReceiver { message, _ in
            message.path == "/silent" ? .silence : .redirection("/elsewhere")
        }
        defer { receiver.end() }
        let url = "http://127.0.0.1:\(receiver.port)"
        let silent = try await Curl().post(message("\(url)/silent", at: "127.0.0.1", limit: 1))
        guard case .none(let said) = silent else {
            Issue.record("it answered: \(silent)")
            return
        }
        #expect(said.contains("timed out"), "\(said)")
        #expect(try await Curl().post(message("\(url)/", at: "127.0.0.1")) == .status(307))
        #expect(receiver.messages.map(\.path) == ["/silent", "/"])
    }
}
