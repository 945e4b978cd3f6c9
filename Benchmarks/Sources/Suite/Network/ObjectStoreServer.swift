internal import Foundation
internal import Glibc

/// An object store on loopback: the program that `REEL_OBJECT_STORE` names serves one in a folder (FOLDER PORT), to the user
/// test:tester with the secret testing.
struct ObjectStoreServer: Sendable {
    static var program: String? { ProcessInfo.processInfo.environment["REEL_OBJECT_STORE"] }

    let port: Int
    let runner: SuiteRunner

    /// Serves a store meanwhile, on one core.
    static func with<Result>(
        _ runner: SuiteRunner, _ program: String, core: Int, _ body: (ObjectStoreServer) async throws -> Result
    ) async throws -> Result {
        let folder = runner.work("objects")
        let server = ObjectStoreServer(port: Int.random(in: 2400..<3200) * 10, runner: runner)
        let process = try BackgroundProcess(["taskset", "-c", "\(core)", program, folder, "\(server.port)"])
        defer {
            process.end()
            runner.remove(folder)
        }
        try await runner.waitUntil("the object store answers") {
            try await runner.text(["curl", "-sS", "http://127.0.0.1:\(server.port)/healthcheck"]) == "OK"
        }
        return try await body(server)
    }

    /// Makes the programs that start during the body use this store, through the port.
    func asSettings<Result>(port: Int, _ body: () async throws -> Result) async throws -> Result {
        let settings = [
            "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(port)", "AWS_ACCESS_KEY_ID": "test:tester",
            "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1",
        ]
        for (name, value) in settings { setenv(name, value, 1) }
        defer { for name in settings.keys { unsetenv(name) } }
        return try await body()
    }

    func makeBucket(_ name: String) async throws { _ = try await runner.text(["aws", "s3", "mb", "s3://\(name)"]) }
}

extension SuiteRunner {
    /// Asks until the answer is yes, for half a minute. An error counts as no.
    func waitUntil(_ what: String, _ isTrue: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while (try? await isTrue()) != true {
            guard ContinuousClock.now < deadline else { throw Trouble("waited for half a minute until \(what)") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
