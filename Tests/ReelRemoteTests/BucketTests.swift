import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelMemoryStore
import ReelRandom
import ReelRemote
import ReelStore
import ReelTestSupport
import Testing

/// Sources and results in buckets.
@Suite struct BucketTests {
    private let folder: ResultFolder

    init() throws { folder = try ResultFolder() }

    private func store(_ server: BucketServer, _ more: [String: String] = [:]) -> ObjectStore {
        let keys = ["AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret", "HOME": folder.path]
        return ObjectStore(
            AWSSettings(keys.merging(["AWS_ENDPOINT_URL_S3": server.endpoint]) { $1 }.merging(more) { $1 }))
    }

    private func sources(_ store: ObjectStore) -> NetworkSources {
        NetworkSources(SourceHosts([], buckets: nil), store, scratch: folder.path)
    }

    private func failure(_ work: () async throws(ReelFailure) -> Void) async -> ReelFailure? {
        do throws(ReelFailure) {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["a.mov", "a b+c=@%~//ü😀.mov", "?#&.mov"])
    func anObjectIsReadByRanges(key: String) async throws {
        let (server, content) = (try BucketServer(), randomBytes(3 << 20))
        server.objects = ["footage/\(key)": content]
        let (sources, address) = (sources(store(server)), "s3://footage/\(key)")
        let print = try #require(try await sources.fingerprints(of: [address])[address])
        #expect(print.size == 3 << 20 && print.tag != nil)
        let source = try await sources.open(.web(address, print.web))
        try await source.fetch(5000..<200_000)
        let file = try FileHandle(forReadingFrom: URL(filePath: source.path))
        try file.seek(toOffset: 5000)
        #expect(try file.read(upToCount: 195_000) == content[5000..<200_000])
        server.objects = ["footage/\(key)": randomBytes(3 << 20, seed: 2)]
        let failure = await failure { () async throws(ReelFailure) in try await source.fetch(0..<10) }
        #expect(failure?.reason == .sourceReplaced(path: address))
    }

    @Test("a process that stood still while it changed a record overwrites nothing")
    func aTurnThatIsLost() async throws {
        let (server, locks) = (try BucketServer(), MemoryLocks())
        let place = try StorePlace("s3://reel/work")
        let made = try await BucketStore(place, in: store(server), locks: locks, scratch: folder.path)
        _ = try await made.establish()
        let job = made.job(JobID("a1"))
        let source = JobSource(path: "/a", fingerprint: Fingerprint(size: 1, mtimeNanoseconds: 0, edges: ""))
        let record = JobRecord(id: job.id, spec: JobSpec(container: .mkv), sources: [source], created: 1)
        #expect(try await job.create(record))
        let frozen = try BucketServer { message, _ in
            // Its lock lapses, and another process changes the record, after it has read that.
            guard message.method == "GET", message.path.contains("job.json") else { return nil }
            let wait = DispatchSemaphore(value: 0)
            Task {
                await locks.lapse()
                wait.signal()
            }
            wait.wait()
            return nil
        }
        frozen.objects = server.objects
        let slow = try await BucketStore(place, in: store(frozen), locks: locks, scratch: folder.path).job(job.id)
        var changed = record
        changed.paused = true
        let shown = "s3://reel/work/jobs/a1/job.json"
        #expect(try await !slow.replace(record, with: changed))
        let kept = await failure { () async throws(ReelFailure) in _ = try await slow.remove(ifStill: record) }
        #expect(kept?.reason == .storeTurnLost(path: shown))
        #expect(frozen.objects == server.objects)
    }

    @Test("uploads in parts that their makers have left go after a day, however many there are, and others stay")
    func leftUploads() async throws {
        let server = try BucketServer()
        let place = try StorePlace("s3://reel/work")
        let made = try await BucketStore(place, in: store(server), locks: MemoryLocks(), scratch: folder.path)
        for number in 0..<8 { server.beginUpload(to: "reel/work/jobs/\(number)") }
        server.beginUpload(to: "reel/workshop/a")
        server.age(by: 86_500)
        server.beginUpload(to: "reel/work/jobs/8")
        await made.removeUnrecordedJobs(before: Date().timeIntervalSince1970)
        #expect(server.uploads == ["reel/work/jobs/8", "reel/workshop/a"])
    }

    private static let faults: [HookReceiver.Answer] = [
        .status(500), BucketServer.refusal(503, "SlowDown"), BucketServer.refusal(400, "RequestTimeout"), .status(429),
        .bytes(Data("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n".utf8), reset: false), .bytes(Data(), reset: true),
    ]

    /// Answers a third of the requests wrongly. The request is done all the same in some cases, as if the answer was lost.
    private static func third(_ seed: UInt64) -> @Sendable (HookReceiver.Message, Int) -> HookReceiver.Answer? {
        { _, number in
            var random = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
            return Int.random(in: 0..<3, using: &random) == 0 ? faults.randomElement(using: &random) : nil
        }
    }

    @Test(arguments: [0, 1, 1 << 20, 16 << 20, (16 << 20) + 1, 35 << 20])
    func aResultIsWrittenWholeAlthoughAThirdOfTheRequestsFail(size: Int) async throws {
        let server = try BucketServer(fault: BucketTests.third(UInt64(size)))
        let (outputs, content) = (BucketOutputs(store(server)), randomBytes(4096, seed: 3))
        var whole = Data()
        while whole.count < size { whole += content.prefix(size - whole.count) }
        let result = try folder.result(whole)
        try await outputs.check("s3://results/a/b c.mp4", overwrite: false)
        try await outputs.deliver(result, to: "s3://results/a/b c.mp4", overwrite: false)
        #expect(server.objects == ["results/a/b c.mp4": whole])
        #expect(server.uploads.isEmpty)
        let failure = await failure { () async throws(ReelFailure) in
            try await outputs.check("s3://results/a/b c.mp4", overwrite: false)
        }
        #expect(failure?.reason == .outputExists(path: "s3://results/a/b c.mp4"))
        try await outputs.check("s3://results/a/b c.mp4", overwrite: true)
    }

    @Test func whatHasAppearedMeanwhileIsNotReplacedUnasked() async throws {
        let server = try BucketServer()
        let outputs = BucketOutputs(store(server))
        let result = try folder.result(Data([1, 2, 3]))
        try await outputs.check("s3://results/a.mp4", overwrite: false)
        server.objects = ["results/a.mp4": Data([4])]
        let failure = await failure { () async throws(ReelFailure) in
            try await outputs.deliver(result, to: "s3://results/a.mp4", overwrite: false)
        }
        #expect(failure?.reason == .outputExists(path: "s3://results/a.mp4"))
        #expect(server.objects == ["results/a.mp4": Data([4])])
        try await outputs.deliver(result, to: "s3://results/a.mp4", overwrite: true)
        #expect(server.objects == ["results/a.mp4": Data([1, 2, 3])])
    }

    @Test(arguments: [100, 20 << 20])
    func bytesThatAreNotTheResultAreNotDelivered(size: Int) async throws {
        let server = try BucketServer()
        let good = try folder.result(Data(repeating: 1, count: size))
        try Data(repeating: 2, count: size).write(to: URL(filePath: good.locator.file))
        let failure = await failure { () async throws(ReelFailure) in
            try await BucketOutputs(store(server)).deliver(good, to: "s3://results/a.mp4", overwrite: false)
        }
        guard case .resultDiffers = failure?.reason else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(server.objects.isEmpty && server.uploads.isEmpty)
    }

    @Test func aWriteThatFailsLeavesNothing() async throws {
        let server = try BucketServer { message, _ in
            message.path.contains("partNumber=2&") ? BucketServer.refusal(403, "AccessDenied") : nil
        }
        let result = try folder.result(Data(repeating: 1, count: 40 << 20))
        let failure = await failure { () async throws(ReelFailure) in
            try await BucketOutputs(store(server)).deliver(result, to: "s3://results/a.mp4", overwrite: false)
        }
        #expect(failure?.reason == .bucketDenied(role: .output, address: "s3://results/a.mp4"))
        #expect(failure?.exitCode == 5)
        #expect(server.objects.isEmpty && server.uploads.isEmpty)
    }

    @Test func aStoreThatAnswersFirstAndFailsThenIsAskedAgain() async throws {
        let server = try BucketServer { message, number in
            message.method == "POST" && message.path.contains("uploadId") && number < 6
                ? BucketServer.refusal(200, "InternalError") : nil
        }
        let whole = Data(repeating: 1, count: 20 << 20)
        try await BucketOutputs(store(server)).deliver(
            try folder.result(whole), to: "s3://results/a.mp4", overwrite: false)
        #expect(server.objects == ["results/a.mp4": whole])
    }

    @Test func eachRefusalIsNamed() async throws {
        let address = "s3://footage/a.mov"
        let region = "<Region>eu-west-1</Region>"
        let cases: [(HookReceiver.Answer, FailureReason)] = [
            (BucketServer.refusal(404, "NoSuchBucket"), .bucketMissing(role: .source, address: address)),
            (BucketServer.refusal(404, "NoSuchKey"), .objectMissing(role: .source, address: address)),
            (.status(404), .objectMissing(role: .source, address: address)),
            (BucketServer.refusal(403, "AccessDenied"), .bucketDenied(role: .source, address: address)),
            (BucketServer.refusal(403, "SignatureDoesNotMatch"), .bucketKeysWrong(role: .source, address: address)),
            (BucketServer.refusal(403, "InvalidAccessKeyId"), .bucketKeysWrong(role: .source, address: address)),
            (BucketServer.refusal(400, "ExpiredToken"), .bucketKeysExpired(role: .source, address: address)),
            (
                BucketServer.refusal(301, "PermanentRedirect"),
                .bucketElsewhere(role: .source, address: address, region: nil, asked: "us-east-1")
            ),
            (
                BucketServer.refusal(400, "AuthorizationHeaderMalformed", region),
                .bucketElsewhere(role: .source, address: address, region: "eu-west-1", asked: "us-east-1")
            ),
            (
                BucketServer.refusal(400, "InvalidRequest"),
                .bucketMisanswered(role: .source, address: address, said: "400 InvalidRequest")
            ),
            (BucketServer.answer(200, [], Data("x".utf8)), .urlWithoutRanges(url: address)),
        ]
        for (answer, reason) in cases {
            let server = try BucketServer { _, _ in answer }
            let failure = await failure { () async throws(ReelFailure) in
                _ = try await sources(store(server)).look(at: address, 1000)
            }
            #expect(failure?.reason == reason)
            #expect(failure?.exitCode == 3)
            #expect(server.requests.count == 1)
        }
        let server = try BucketServer { _, _ in
            BucketServer.answer(
                403, ["Date: Tue, 24 Nov 2026 08:49:37 GMT"],
                Data("<Error><Code>RequestTimeTooSkewed</Code></Error>".utf8))
        }
        let skewed = await failure { () async throws(ReelFailure) in
            _ = try await sources(store(server)).look(at: address, 1000)
        }
        guard case .bucketClockDiffers(.source, address, let seconds?) = skewed?.reason else {
            return #expect(Bool(false), "\(String(describing: skewed))")
        }
        #expect(abs(seconds) > 10)
    }

    // MARK: Keys

    private func look(_ server: BucketServer, _ environment: [String: String]) async -> ReelFailure? {
        server.objects = ["footage/a.mov": Data([1])]
        let given = ["HOME": folder.path, "AWS_ENDPOINT_URL_S3": server.endpoint]
        let sources = sources(ObjectStore(AWSSettings(given.merging(environment) { $1 })))
        return await failure { () async throws(ReelFailure) in
            _ = try await sources.look(at: "s3://footage/a.mov", 1000)
        }
    }

    /// The key ids by which the requests were signed.
    private func ids(_ server: BucketServer) -> [String] {
        server.requests.compactMap {
            $0.headers["authorization"]?.firstMatch(of: /Credential=([^\/]+)\//).map { String($0.1) }
        }
    }

    @Test func keysAreFoundWhereOtherProgramsFindThem() async throws {
        let server = try BucketServer()
        try FileManager.default.createDirectory(atPath: folder.path + "/.aws", withIntermediateDirectories: true)
        try """
        [default]
        aws_access_key_id = of-file
        aws_secret_access_key=a/b=c
        [studio]
        aws_access_key_id = of-studio
        aws_secret_access_key = x
        """.write(toFile: folder.path + "/.aws/credentials", atomically: false, encoding: .utf8)
        try "# reel\n[profile studio]\nregion = eu-north-1\ns3 =\n  addressing_style = path\n".write(
            toFile: folder.path + "/.aws/config", atomically: false, encoding: .utf8)
        #expect(await look(server, [:]) == nil)
        #expect(await look(server, ["AWS_PROFILE": "studio"]) == nil)
        #expect(
            await look(
                server, ["AWS_ACCESS_KEY_ID": "of-environment", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "x"]) == nil
        )
        #expect(ids(server) == ["of-file", "of-studio", "of-environment"])
        let scopes = server.requests.compactMap { $0.headers["authorization"]?.firstMatch(of: /\/(\w[\w-]*)\/s3\//) }
        #expect(scopes.map { String($0.1) } == ["us-east-1", "eu-north-1", "x"])
        let unknown = await look(server, ["AWS_PROFILE": "nobody"])
        guard case .bucketKeysAbsent(_, _, let said) = unknown?.reason else { return #expect(Bool(false)) }
        #expect(said.contains("nobody"))
    }

    @Test func keysThatAnotherProgramRenewsInAProfileAreFound() async throws {
        let server = try BucketServer { message, _ in
            message.headers["authorization"]?.contains("old/") == true ? BucketServer.refusal(400, "ExpiredToken") : nil
        }
        server.objects = ["footage/a.mov": Data([1])]
        let file = folder.path + "/keys"
        func write(_ id: String) throws {
            let text = "[default]\naws_access_key_id = \(id)\naws_secret_access_key = x\naws_session_token = s\n"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write("old")
        let environment = [
            "HOME": folder.path, "AWS_ENDPOINT_URL_S3": server.endpoint, "AWS_SHARED_CREDENTIALS_FILE": file,
            "AWS_PROFILE": "",
        ]
        let sources = sources(ObjectStore(AWSSettings(environment)))
        let failure = await failure { () async throws(ReelFailure) in
            _ = try await sources.look(at: "s3://footage/a.mov", 10)
        }
        #expect(failure?.reason == .bucketKeysExpired(role: .source, address: "s3://footage/a.mov"))
        try write("new")
        _ = try await sources.look(at: "s3://footage/a.mov", 10)
        #expect(ids(server) == ["old", "new"])
    }

    private static func keys(_ id: String, expires: TimeInterval) -> String {
        let moment = Date(timeIntervalSinceNow: expires).formatted(.iso8601)
        return
            "{\"AccessKeyId\":\"\(id)\",\"SecretAccessKey\":\"x\",\"Token\":\"session\",\"Expiration\":\"\(moment)\"}"
    }

    @Test func keysOfAContainerAreRenewedBeforeTheyExpire() async throws {
        let server = try BucketServer()
        let service = try HookReceiver { message, number in
            guard message.headers["authorization"] == "token" else { return .status(403) }
            return BucketServer.answer(
                200, [], Data(BucketTests.keys("key-\(number)", expires: number < 3 ? 60 : 3600).utf8))
        }
        defer { service.end() }
        try "token\n".write(toFile: folder.path + "/token", atomically: false, encoding: .utf8)
        server.objects = ["footage/a.mov": Data([1])]
        let store = store(
            server,
            [
                "AWS_ACCESS_KEY_ID": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(service.port)/keys",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": folder.path + "/token",
            ])
        for _ in 0..<5 { _ = try await sources(store).look(at: "s3://footage/a.mov", 10) }
        #expect(ids(server) == ["key-1", "key-2", "key-3", "key-3", "key-3"])
        #expect(server.requests.allSatisfy { $0.headers["x-amz-security-token"] == "session" })
    }

    @Test func keysThatAStoreCallsExpiredAreRenewed() async throws {
        let server = try BucketServer { message, _ in
            message.headers["authorization"]?.contains("key-1/") == true
                ? BucketServer.refusal(400, "ExpiredToken") : nil
        }
        let service = try HookReceiver { _, number in
            BucketServer.answer(200, [], Data(BucketTests.keys("key-\(number)", expires: 3600).utf8))
        }
        defer { service.end() }
        let url = "http://127.0.0.1:\(service.port)/keys"
        #expect(await look(server, ["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]) == nil)
        #expect(ids(server) == ["key-1", "key-2"])
    }

    @Test func aPodAndAnInstanceGetKeys() async throws {
        let server = try BucketServer()
        let service = try HookReceiver { message, _ in
            switch (message.method, message.path) {
            case ("PUT", "/latest/api/token"): BucketServer.answer(200, [], Data("session".utf8))
            case ("GET", let path) where message.headers["x-aws-ec2-metadata-token"] == "session":
                path.hasSuffix("/worker")
                    ? BucketServer.answer(200, [], Data(BucketTests.keys("of-instance", expires: 3600).utf8))
                    : BucketServer.answer(200, [], Data("worker\n".utf8))
            case ("POST", "/"):
                String(decoding: message.body, as: UTF8.self).hasSuffix("&WebIdentityToken=a%2Bb")
                    ? BucketServer.answer(
                        200, [],
                        Data(
                            """
                            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                            <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>of-pod</AccessKeyId>
                            <SecretAccessKey>x</SecretAccessKey><SessionToken>s</SessionToken>
                            <Expiration>2099-01-01T00:00:00.5Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
                            </AssumeRoleWithWebIdentityResponse>
                            """.utf8)) : .status(403)
            default: .status(404)
            }
        }
        defer { service.end() }
        let url = "http://127.0.0.1:\(service.port)"
        #expect(await look(server, ["AWS_EC2_METADATA_SERVICE_ENDPOINT": url]) == nil)
        try "a+b\n".write(toFile: folder.path + "/token", atomically: false, encoding: .utf8)
        let pod = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": folder.path + "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/reel",
            "AWS_ENDPOINT_URL_STS": url + "/",
        ]
        #expect(await look(server, pod) == nil)
        #expect(ids(server) == ["of-instance", "of-pod"])
    }

    @Test(arguments: ["${STORE:-}", "objects.example", "https://", "file:///srv/objects"])
    func anEndpointThatIsNoURLIsNamedAtOnce(_ endpoint: String) async throws {
        let server = try BucketServer()
        let failure = await look(server, ["AWS_ENDPOINT_URL_S3": endpoint])
        guard case .bucketUnanswered(.source, "s3://footage/a.mov", let said) = failure?.reason else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(said.contains("\(endpoint), which AWS_ENDPOINT_URL_S3 or the profile names"))
    }

    @Test func aHostWithoutKeysSaysWhereItLooked() async throws {
        let server = try BucketServer()
        let failure = await look(server, ["AWS_EC2_METADATA_DISABLED": "true"])
        guard case .bucketKeysAbsent(.source, "s3://footage/a.mov", let said) = failure?.reason else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(said.contains("AWS_ACCESS_KEY_ID") && server.requests.isEmpty)
    }
}
