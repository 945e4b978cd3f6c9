import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

/// The transitions of a job, as `docs/board.md` names them.
private enum Happening: String, CaseIterable {
    case begin, publish, complete, invalidate, disprove, cancel, forget, release, pause, resume, retry
    case publishWhole = "publish, with the result of the assembly"
    case leave = "leave, abandoning"
    case invalidateTooOften = "invalidate, no attempt left"
    case failPermanently = "fail, no attempt left"
    case failOnce = "fail, attempts left"
    case lapseOnce = "reap, attempts left"
    case lapseTooOften = "reap, no attempt left"
}

/// Every transition; anything that is not listed changes no state. `nil` is a job that the board does not know.
private let transitions: [(from: JobState?, happening: Happening, to: JobState?)] = [
    (nil, .begin, .probing),
    (.probing, .publish, .running),
    (.probing, .publishWhole, .done),
    (.probing, .failPermanently, .failed),
    (.probing, .lapseTooOften, .failed),
    (.probing, .cancel, .cancelled),
    (.probing, .leave, .cancelled),
    (.running, .complete, .assembling),
    (.running, .disprove, .probing),
    (.running, .failPermanently, .failed),
    (.running, .lapseTooOften, .failed),
    (.running, .invalidateTooOften, .failed),
    (.running, .cancel, .cancelled),
    (.assembling, .complete, .done),
    (.assembling, .invalidate, .running),
    (.assembling, .disprove, .probing),
    (.assembling, .invalidateTooOften, .failed),
    (.assembling, .failPermanently, .failed),
    (.assembling, .lapseTooOften, .failed),
    (.assembling, .cancel, .cancelled),
    (.done, .begin, .probing),
    (.failed, .begin, .probing),
    (.cancelled, .begin, .probing),
    (.failed, .retry, .running),
    (.done, .forget, nil),
    (.failed, .forget, nil),
    (.cancelled, .forget, nil),
]

extension BoardTests {
    @Suite struct StateMachine {
        let fixture: BoardFixture
        init() throws { fixture = try BoardFixture() }

        static let states: [JobState?] = [nil] + JobState.allCases

        @Test(arguments: states, Happening.allCases)
        private func whatHappensInAState(_ start: JobState?, happening: Happening) async throws {
            let held = try await bring(to: start)
            #expect(try await fixture.state() == start)
            try await befall(held, happening)
            let transition = transitions.first { $0.from == start && $0.happening == happening }
            #expect(try await fixture.state() == (transition.map(\.to) ?? start))
        }

        @Test func theDocumentHasTheSameTable() throws {
            let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/board.md").standardized
            let rows = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").compactMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard cells.count == 4, Happening(rawValue: cells[1]) != nil else { return String?.none }
                return cells[..<3].joined(separator: " | ")
            }
            let table = transitions.map {
                "\($0.from?.rawValue ?? "none") | \($0.happening.rawValue) | \($0.to?.rawValue ?? "none")"
            }
            #expect(rows.sorted() == table.sorted())
        }

        /// Makes a job of one pass and brings it to a state; gives what a worker holds or held last.
        private func bring(to state: JobState?) async throws -> Claim {
            var held = Claim(job: JobID("a1"), index: 0, work: .audio, token: "none", need: 100, plan: 0)
            guard let state else { return held }
            held = try await fixture.begin(BoardFixture.job(passes: 1))
            guard state != .probing else { return held }
            try await fixture.publish(BoardFixture.job(passes: 1), holding: held)
            held = try await fixture.take()
            if state == .assembling || state == .done {
                try await fixture.complete(held)
                held = try await fixture.take()
            }
            switch state {
            case .done: try await fixture.complete(held)
            case .failed: try await fixture.fail(held, .permanent)
            case .cancelled: _ = try await fixture.board.cancel(held.job)
            default: break
            }
            return held
        }

        /// Takes back the result of the first pass, which a running job of one pass has if a completion was torn.
        private func invalidate(_ held: Claim, tooOften: Bool) async throws {
            let (key, state) = ("reel2:{main}:job:a1", try await fixture.state())
            if state == .running { try fixture.raw("HSET", "\(key):done", "0", "t {}") }
            if tooOften, state != nil {
                let record = #"{"attempts":{"transient":4},"crashed":[],"hosts":{},"whole":0,"recent":[]}"#
                try fixture.raw("HSET", "\(key):fails", "0", record)
            }
            let token = String(try fixture.raw("HGET", "\(key):done", "0").prefix { $0 != " " })
            try await fixture.invalidate(held, token: token)
        }

        private func befall(_ held: Claim, _ happening: Happening) async throws {
            switch happening {
            case .begin: _ = try await fixture.board.begin(BoardFixture.job(passes: 1), holder: WorkerID("c2"))
            case .publish: try await fixture.publish(BoardFixture.job(passes: 1), holding: held)
            case .publishWhole:
                let made = RecordedResult(
                    token: held.token,
                    result: PassResult(segments: [], statistics: PassStatistics(), diagnostics: []))
                _ = try await fixture.board.publish(
                    BoardFixture.job(passes: 1), finished: [0: made, 1: made], claim: held, paused: false)
            case .leave:
                _ = try await fixture.board.leave(held.job, waiter: "c1", claim: held, abandoning: true)
            case .complete: try await fixture.complete(held)
            case .invalidate, .invalidateTooOften:
                try await invalidate(held, tooOften: happening == .invalidateTooOften)
            case .disprove:
                _ = try await fixture.board.disprove(held, worker: WorkerID("w1"), job: BoardFixture.job(passes: 1))
            case .cancel: _ = try await fixture.board.cancel(held.job)
            case .release: try await fixture.board.release(held)
            case .pause: #expect(try await fixture.board.pause(held.job) == (try await fixture.state()))
            case .resume: #expect(try await fixture.board.resume(held.job) == (try await fixture.state()))
            case .retry: _ = try await fixture.board.retry(held.job)
            case .failPermanently: try await fixture.fail(held, .permanent)
            case .failOnce: try await fixture.fail(held, .transient)
            case .forget: try? await fixture.board.forget(held.job)
            case .lapseOnce, .lapseTooOften:
                // It must not create a job that does not exist.
                if happening == .lapseTooOften, try await fixture.state() != nil {
                    let record = #"{"attempts":{"lost":19},"crashed":[],"hosts":{},"whole":0,"recent":[]}"#
                    try fixture.raw("HSET", "reel2:{main}:job:a1:fails", String(held.index), record)
                }
                try fixture.lapse()
                _ = try await fixture.reaper().reap()
            }
        }
    }
}
