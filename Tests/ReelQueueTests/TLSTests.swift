import Foundation
import Glibc
import ReelCore
import ReelQueue
import ReelTLS
import ReelTestSupport
import ReelWords
import Testing

extension BoardTests {
    /// The board through TLS, with a real Redis and certificates of openssl.
    @Suite struct TLSTests {
        private let fixture: BoardFixture
        private let authority: Authority

        init() throws {
            fixture = try BoardFixture()
            authority = try Authority()
        }

        /// Runs the body while Redis has a port with TLS.
        private func serving(
            _ certificate: Certificate, clients: String = "no", _ body: (Int) async throws -> Void
        ) async throws {
            let files = [
                "CONFIG", "SET", "tls-cert-file", certificate.path, "tls-key-file", certificate.key, "tls-ca-cert-file",
                authority.path, "tls-auth-clients", clients,
            ]
            try fixture.raw.send(files)
            var port = Int.random(in: 20_000..<32_000)
            while (try? fixture.raw("CONFIG", "SET", "tls-port", "\(port)")) == nil { port += 1 }
            // Redis takes other files only while it has such a port.
            try fixture.raw.send(files)
            do { try await body(port) } catch {
                try fixture.raw("CONFIG", "SET", "tls-port", "0")
                throw error
            }
            try fixture.raw("CONFIG", "SET", "tls-port", "0")
        }

        private func board(_ url: String, files: TLSFiles = TLSFiles()) throws -> RedisBoard {
            RedisBoard(try RedisAddress(url, transport: TLSTransport(), files: files), name: "secured")
        }

        private func failure(_ url: String, files: TLSFiles = TLSFiles()) async throws -> ReelFailure {
            let board = try board(url, files: files)
            return try #require(await #expect(throws: ReelFailure.self) { try await board.ping() })
        }

        @Test func aBoardIsWhatItIsWithout() async throws {
            let certificate = try authority.certificate(for: "DNS:localhost,IP:127.0.0.1")
            try await serving(certificate) { port in
                for host in ["localhost", "127.0.0.1"] {
                    let address = "rediss://admin:admin@\(host):\(port)/1?ca=\(authority.path)"
                    let board = try board(address)
                    // More than the buffers of sockets hold, in both directions.
                    var job = BoardFixture.job(host)
                    job.diagnostics = [.said(String(repeating: "much ", count: 1 << 20))]
                    #expect(try await board.put(job) == .published)
                    let status = try await board.status(JobID(host))
                    #expect(status?.state == .running)
                    #expect(status?.job.diagnostics == job.diagnostics)
                }
                let files = TLSFiles(authorities: authority.path)
                try await board("rediss://admin:admin@localhost:\(port)", files: files).ping()
            }
        }

        @Test func aCertificateForAnotherNameIsRefused() async throws {
            let certificate = try authority.certificate(for: "DNS:other.example,IP:127.0.0.2")
            try await serving(certificate) { port in
                for host in ["localhost", "127.0.0.1"] {
                    let failure = try await failure("rediss://admin:admin@\(host):\(port)?ca=\(authority.path)")
                    #expect(failure.words.hasSuffix("its certificate is not for \(host)"), "\(failure.words)")
                    #expect(failure.exitCode == 4 && failure.cause == .permanent)
                }
            }
        }

        @Test func anUnknownAuthorityIsRefused() async throws {
            let other = try Authority()
            let certificate = try authority.certificate(for: "DNS:localhost")
            try await serving(certificate) { port in
                let address = "rediss://admin:admin@localhost:\(port)"
                let unnamed = try await failure(address)
                #expect(unnamed.words.contains("is not of an authority that this machine names"), "\(unnamed.words)")
                #expect(unnamed.words.contains("?ca=FILE"))
                #expect(!unnamed.words.contains("admin:admin"))
                let wrong = try await failure("\(address)?ca=\(other.path)")
                #expect(wrong.words.contains("is not of an authority that \(other.path) names"), "\(wrong.words)")
                #expect(wrong.cause == .permanent)
            }
        }

        @Test func aCertificateThatRanOutIsRefused() async throws {
            let certificate = try authority.certificate(for: "DNS:localhost", days: -1)
            try await serving(certificate) { port in
                let failure = try await failure("rediss://admin:admin@localhost:\(port)?ca=\(authority.path)")
                let day = Date(timeIntervalSinceNow: -86_400).formatted(.iso8601.year().month().day())
                #expect(failure.words.contains("its certificate ran out on \(day)"), "\(failure.words)")
                #expect(failure.cause == .permanent)
            }
        }

        @Test func aServerMayAskForAClientsCertificate() async throws {
            let certificate = try authority.certificate(for: "DNS:localhost")
            let client = try authority.certificate(for: "DNS:worker")
            try await serving(certificate, clients: "yes") { port in
                let address = "rediss://admin:admin@localhost:\(port)?ca=\(authority.path)"
                let none = try await failure(address)
                #expect(none.words.contains("wants a client certificate"), "\(none.words)")
                try await board("\(address)&cert=\(client.path)&key=\(client.key)").ping()
                let stranger = try Authority().certificate(for: "DNS:worker")
                let wrong = try await failure("\(address)&cert=\(stranger.path)&key=\(stranger.key)")
                #expect(wrong.words.contains("does not accept the client certificate"), "\(wrong.words)")
            }
        }

        @Test func whatIsNoTLSIsNamed() async throws {
            var port = Int.random(in: 20_000..<32_000)
            while (try? fixture.raw("CONFIG", "SET", "port", "\(port)")) == nil { port += 1 }
            let plain = try await failure("rediss://localhost:\(port)")
            try fixture.raw("CONFIG", "SET", "port", "0")
            #expect(plain.words.contains("TLS"), "\(plain.words)")
            let nobody = try await failure("rediss://localhost:\(port)")
            #expect(nobody.words.contains("Connection refused") && nobody.cause == .transient, "\(nobody.words)")
            let file = try await failure("rediss://localhost:\(port)?ca=/nowhere/ca.pem")
            #expect(file.words.contains("/nowhere/ca.pem holds no certificate in PEM form"), "\(file.words)")
            #expect(file.cause == .permanent)
            let key = try await failure("rediss://localhost:\(port)?cert=\(authority.path)&key=/nowhere/key")
            #expect(key.words.contains("/nowhere/key holds no key in PEM form"), "\(key.words)")
        }

        @Test func aConnectionThatEndsIsMadeAnewAndNothingIsLeftOpen() async throws {
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            let certificate = try authority.certificate(for: "DNS:localhost")
            try await serving(certificate) { port in
                let address = "rediss://admin:admin@localhost:\(port)?ca=\(authority.path)"
                let board = try board(address)
                try await board.ping()
                let before = try descriptors()
                let clients = try fixture.raw("CLIENT", "LIST").split(separator: "\n")
                let id = try #require(clients.first { $0.contains("name=secured") }?.split(separator: " ").first)
                try fixture.raw("CLIENT", "KILL", "ID", String(id.dropFirst("id=".count)))
                let failure = await #expect(throws: ReelFailure.self) { try await board.ping() }
                #expect(failure?.cause == .transient)
                try await board.ping()
                for _ in 0..<20 { try await self.board(address).ping() }
                for _ in 0..<5 { _ = try await self.failure("rediss://localhost:\(port)") }
                let deadline = ContinuousClock.now + .seconds(60)
                while try descriptors() > before, ContinuousClock.now < deadline {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(try descriptors() <= before)
            }
        }
    }
}

/// An authority that signs certificates, in a folder of its own that is removed with it.
private final class Authority {
    private let folder: String
    private var count = 0
    let path: String

    init() throws {
        folder = NSTemporaryDirectory() + "reel-authority-\(UUID().uuidString)"
        path = folder + "/ca.pem"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try openssl(
            ["req", "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", folder + "/ca.key", "-out", path]
                + Authority.newKey)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// A certificate for names, as openssl writes them, and its key.
    func certificate(for names: String, days: Int = 2) throws -> Certificate {
        count += 1
        let made = Certificate(path: "\(folder)/\(count).pem", key: "\(folder)/\(count).key", authority: self)
        let (request, extensions) = ("\(folder)/\(count).csr", "\(folder)/\(count).ext")
        try "subjectAltName=\(names)".write(toFile: extensions, atomically: false, encoding: .utf8)
        try openssl(["req", "-subj", "/CN=reel", "-keyout", made.key, "-out", request] + Authority.newKey)
        try openssl([
            "x509", "-req", "-in", request, "-CA", path, "-CAkey", folder + "/ca.key", "-CAcreateserial", "-days",
            "\(days)", "-extfile", extensions, "-out", made.path,
        ])
        return made
    }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    }
}

private struct Certificate {
    let path: String
    let key: String
    /// Whose folder holds it.
    let authority: Authority
}
