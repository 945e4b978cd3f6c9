import Foundation
import ReelCore
import ReelEngine
import ReelRandom
import ReelTestSupport
import Testing

/// Answers of engines are kept on the board, and an engine that a hostile file has taken over may answer anything.
@Suite("Bounds of an engine's answers", .timeLimit(.minutes(10)))
struct AnswerBoundsTests {
    private func record(_ frames: Range<Int>, token: String = "7e", diagnostics: [Diagnostic] = []) -> SegmentRecord {
        SegmentRecord(
            content: SegmentContent(part: .video(frames: frames), times: "aa", target: "bb"), clip: 0, token: token,
            frames: frames.count, packets: frames.count, bytes: 1, checksum: "cc", timeBase: TimeBase(1, 25),
            reorderDepth: 0, extradataHash: "dd", diagnostics: diagnostics)
    }

    private func result(
        _ segments: [SegmentRecord], diagnostics: [Diagnostic] = [], framesEncoded: Int = 0
    ) -> EngineEvent {
        .result(
            .pass(
                PassResult(
                    segments: segments, statistics: PassStatistics(framesEncoded: framesEncoded),
                    diagnostics: diagnostics)))
    }

    /// Why an answer to a pass of two chunks, of which some are whole, is refused; nil if it is accepted.
    private func nonsense(_ answer: String, finishedChunks: [Int] = []) async throws -> EngineNonsense? {
        let engine = try FakeEngine("\(say(ready)); read -r request; \(answer); cat >/dev/null")
        do {
            _ = try await engine.withEngine { session in
                try await session.perform(reverse(pass: 3, finishedChunks: finishedChunks))
            }
            return nil
        } catch let failure as ReelFailure {
            guard case .engineNonsense(_, let nonsense, _) = failure.reason else { throw failure }
            #expect(failure.cause == .crash)
            return nonsense
        }
    }

    @Test(
        "a progress with a count that no engine reaches is not an event",
        arguments: [
            .recon(packets: -1, thousandths: 0), .video(decoded: 0, encoded: 1 << 51, frames: 0..<1),
            .video(decoded: 0, encoded: 0, frames: -1..<1), .assembly(packets: 0, frames: .max, thousandths: 0),
        ] as [EngineProgress])
    func progress(_ progress: EngineProgress) async throws {
        guard case .noEvent? = try await nonsense(say(.progress(progress))) else {
            Issue.record("the progress was accepted")
            return
        }
    }

    @Test("the numbers of targets can be computed with", arguments: [9_000_000_000_000_000_000, 65537, 0, -1])
    func targets(size: Int) async throws {
        func nonsense(width: Int, height: Int, rate: Int = 48000, source: Int = 0) async throws -> EngineNonsense? {
            let format = OutputFormat(
                timeBase: TimeBase(1, 25), width: width, height: height, pixelFormat: "rgb24", frameRate: Rational(25))
            let targets = TargetsResult(
                video: .passthrough(
                    VideoPassthrough(format: format, identity: EncoderIdentity(build: "copy", extradataHash: "aa"))),
                audio: [
                    AudioTarget(
                        source: source, track: 0, direction: .backwards, encoder: "aac", sampleRate: rate,
                        channelLayout: "stereo", bitrate: nil, lossless: false)
                ], diagnostics: [])
            let engine = try FakeEngine(
                "\(say(ready)); read -r request; \(say(.result(.targets(targets)))); cat >/dev/null")
            do {
                _ = try await engine.withEngine { session in
                    try await session.perform(
                        .choose(
                            ChooseRequest(
                                indexes: [.file("/a"), .file("/b")], spec: JobSpec(container: .mkv), threads: 1)))
                }
                return nil
            } catch let failure as ReelFailure {
                guard case .engineNonsense(_, let nonsense, _) = failure.reason else { throw failure }
                return nonsense
            }
        }
        #expect(try await nonsense(width: 65536, height: 1) == nil)
        let flaw = EngineNonsense.unfitResult(part: .numbers)
        #expect(try await nonsense(width: size, height: 2) == flaw)
        #expect(try await nonsense(width: 2, height: size) == flaw)
        #expect(try await nonsense(width: 2, height: 2, rate: min(size, 0)) == flaw)
        #expect(try await nonsense(width: 2, height: 2, source: 1) == nil)
        #expect(try await nonsense(width: 2, height: 2, source: size == 0 ? 2 : size) == flaw)
    }

    @Test("segments are those of the chunks that were asked for, each once, under the token that was given")
    func segments() async throws {
        let (first, second) = (record(0..<240), record(240..<480))
        #expect(try await nonsense(say(result([first, second]))) == nil)
        #expect(try await nonsense(say(result([second])), finishedChunks: [0]) == nil)
        let unfit = EngineNonsense.unfitResult(part: .segments)
        #expect(try await nonsense(say(result([first, second])), finishedChunks: [0]) == unfit)
        #expect(try await nonsense(say(result([first, first]))) == unfit)
        #expect(try await nonsense(say(result([record(0..<240, token: "5a")]))) == unfit)
        #expect(try await nonsense(say(result([first, second, record(480..<720)]))) == unfit)
    }

    @Test("diagnostics are few and short")
    func diagnostics() async throws {
        let many = (0..<21).map { Diagnostic.soundNotHeard(track: $0) }
        let long = Diagnostic.tagsLeftOut(container: .mp4, names: [String(repeating: "x", count: 2100)])
        #expect(try await nonsense(say(result([], diagnostics: Array(many.prefix(20))))) == nil)
        let unfit = EngineNonsense.unfitResult(part: .diagnostics)
        #expect(try await nonsense(say(result([], diagnostics: many))) == unfit)
        #expect(try await nonsense(say(result([], diagnostics: [long]))) == unfit)
        #expect(try await nonsense(say(result([record(0..<240, diagnostics: many)]))) == unfit)
    }

    @Test("a failure is one that an engine can have at that request, and short")
    func failures() async throws {
        func nonsense(_ reason: FailureReason) async throws -> EngineNonsense? {
            do {
                return try await self.nonsense(say(.failure(ReelFailure(reason))))
            } catch let failure as ReelFailure where failure.reason == reason {
                return nil
            }
        }
        let possible: [FailureReason] = [
            .diskFull(path: nil), .outOfMemory(step: .readFile, subject: nil), .decoderStuck(codec: "h264"),
            .planDisproved(path: "a.mp4", disproof: .missing, time: Rational(1)),
            .mediaFailed(step: .readFile, subject: nil, said: String(repeating: "x", count: 15 << 10)),
        ]
        for reason in possible { #expect(try await nonsense(reason) == nil, "\(reason)") }
        let impossible: [FailureReason] = [
            .interrupted, .engineEnded, .engineInterrupted(place: .idle), .jobGoesOn(job: JobID("a1")),
            .redisUnreachable(address: "redis://a", said: "", passes: true), .workerVanished(worker: "w1"),
            .segmentMissing(segment: "c0v0-240.7e.nut", pass: 0), .partsEnded(parts: .packets),
            .noWorkerCan(host: "a", last: ReelFailure(.noStart)), .runStopped(last: ReelFailure(.diskFull(path: nil))),
        ]
        for reason in impossible { #expect(try await nonsense(reason) == .unfitFailure(code: reason.code)) }
        let long = FailureReason.mediaFailed(
            step: .readFile, subject: nil, said: String(repeating: "x", count: 17 << 10))
        #expect(try await nonsense(long) == .longLine(limit: 16 << 10))
        // Also of an engine that was asked nothing.
        let stray = try FakeEngine("\(say(ready)); \(say(.failure(ReelFailure(long)))); cat >/dev/null")
        let failure = try await #require(throws: ReelFailure.self) {
            try await stray.withEngine { session in
                while !session.isDead { await Task.yield() }
                _ = try await session.perform(reverse(pass: 3))
            }
        }
        guard case .engineNonsense(_, .longLine(16 << 10), _) = failure.reason else { throw failure }
    }

    @Test("an engine that is asked to choose the encoders cannot disprove a plan")
    func disproof() async throws {
        let disproof = ReelFailure(.planDisproved(path: "a.mp4", disproof: .missing, time: Rational(1)))
        let engine = try FakeEngine("\(say(ready)); read -r request; \(say(.failure(disproof))); cat >/dev/null")
        let failure = try await #require(throws: ReelFailure.self) {
            try await engine.withEngine { session in
                try await session.perform(
                    .choose(ChooseRequest(indexes: [], spec: JobSpec(container: .mkv), threads: 1)))
            }
        }
        guard case .engineNonsense(_, let nonsense, _) = failure.reason else { throw failure }
        #expect(nonsense == .unfitFailure(code: "plan-disproved"))
    }

    @Test("a line is as long as the chunks of its pass explain, and no longer")
    func longLines() async throws {
        let line = "head -c 400000 /dev/zero | tr '\\0' x; echo"
        #expect(try await nonsense(line) == .longLine(limit: (256 << 10) + 2 * (4 << 10)))
    }

    @Test("events with names that lead out of the folder, or with impossible numbers, are refused")
    func damagedEvents() async throws {
        let sound = try say(result([record(0..<240)], framesEncoded: 77))
        let damages = [
            ("c0v0-240.7e.nut", "../c0v0-240.7e.nut"), ("\"frames\":240", "\"frames\":0"),
            ("\"framesEncoded\":77", "\"framesEncoded\":9223372036854775807"),
            ("\"framesEncoded\":77", "\"framesEncoded\":-1"), ("\"bytes\":1", "\"bytes\":-1"),
        ]
        for (from, to) in damages {
            #expect(sound.contains(from), "\(from) in \(sound)")
            guard case .noEvent = try await nonsense(sound.replacing(from, with: to)) else {
                Issue.record("\(to) was taken")
                continue
            }
        }
    }

    @Test("damaged events are refused, and never stop the reader", arguments: 0..<2000 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let lines = try Golden.read("events.json").split(separator: UInt8(ascii: "\n"))
        var bytes = Array(lines[Int(seed) % lines.count])
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(30), at: place)
            }
        }
        _ = try? JSONDecoder().decode(EngineEvent.self, from: Data(bytes))
    }
}
