import ReelCore
import ReelEngine
import ReelQueue
import ReelWork
import Testing

/// What a worker holds, and how it is stopped.
@Suite struct ActivePassesTests {
    private static func claim(_ token: String, _ work: Work) -> Claim {
        Claim(job: JobID("a1"), index: 2, work: work, token: token, need: 100, plan: 3)
    }

    @Test func aBeatTellsWhatIsDone() {
        let passes = ActivePasses()
        let claim = ActivePassesTests.claim("1", .video)
        passes.add(claim, frames: 10, kill: KillSwitch())
        passes.update(claim, wholeChunks: 1, frames: 5)
        passes.update(claim, .video(decoded: 4, encoded: 3, frames: 5..<9))
        let held = WorkerReport.Held(
            job: JobID("a1"), index: 2, token: "1", plan: 3, decoded: 4, encoded: 8, wholeChunks: 1, frames: 10)
        #expect(passes.report == [held])
        passes.remove(claim)
        #expect(passes.report == [])
    }

    @Test func soundHasNoFrames() {
        let passes = ActivePasses()
        let claim = ActivePassesTests.claim("1", .audio)
        passes.add(claim, frames: 0, kill: KillSwitch())
        passes.update(claim, .sound)
        #expect(passes.report.map(\.decoded) == [0])
        #expect(passes.report.map(\.encoded) == [0])
    }

    @Test(
        "an assembly has made the frames that it writes only if it copies them, and says how much of its work is done",
        arguments: [(0, 0), (10, 7)])
    func framesOfAnAssembly(_ made: Int, _ encoded: Int) {
        let passes = ActivePasses()
        let claim = ActivePassesTests.claim("1", .assembly)
        passes.add(claim, frames: made, kill: KillSwitch())
        passes.update(claim, .assembly(packets: 12, frames: 7, thousandths: 250))
        #expect(passes.report.map(\.encoded) == [encoded])
        #expect(passes.report.map(\.decoded) == [250])
    }

    @Test func theFirstReasonToStopCounts() {
        let passes = ActivePasses()
        let claim = ActivePassesTests.claim("1", .video)
        let (kill, kills) = (KillSwitch(), Counter())
        kill.arm { kills.count() }
        passes.add(claim, frames: 10, kill: kill)
        #expect(passes.stopReason(of: claim) == nil)
        passes.stop(token: "another", because: .lost)
        #expect(kills.total == 0)
        passes.stop(token: "1", because: .cancelled)
        passes.stopAll(because: .drained)
        #expect(passes.stopReason(of: claim) == .cancelled)
        #expect(kills.total == 2)
    }

    /// A claim may be under way when the worker is told to end at once.
    @Test func aPassThatIsEnteredAfterAllWereStoppedIsStopped() {
        let passes = ActivePasses()
        let claim = ActivePassesTests.claim("1", .video)
        let (kill, kills) = (KillSwitch(), Counter())
        passes.stopAll(because: .drained)
        passes.add(claim, frames: 10, kill: kill)
        kill.arm { kills.count() }
        #expect(passes.stopReason(of: claim) == .drained)
        #expect(kills.total == 1)
    }

    @Test func aSwitchThatWasFiredBeforeItIsArmedActsAtOnce() {
        let (kill, kills) = (KillSwitch(), Counter())
        kill.fire()
        kill.arm { kills.count() }
        #expect(kills.total == 1)
    }

    @Test func aSignalSentBeforeTheWaitIsNotMissed() async {
        let signal = AsyncSignal()
        let count = signal.count
        signal.send()
        await signal.wait(after: count)
        #expect(signal.count == 1)
    }
}
