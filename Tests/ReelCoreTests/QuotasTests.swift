import ReelCore
import ReelTestSupport
import Testing

@Suite("Quotas")
struct QuotasTests {
    private static let index = Indexes.regular(frames: 30, keysAt: [0])

    private func plan() throws -> Plan {
        try Plans.make(
            Self.index, slots: 1, spec: JobSpec(container: .mkv),
            video: Plans.target("ffv1", width: 320, height: 240, pixelFormat: "yuv420p"))
    }

    private func refusal(_ quota: Quotas.Quota, _ most: Int64) throws -> FailureReason? {
        var quotas = Quotas()
        quotas[quota] = most
        let plan = try plan()
        do throws(ReelFailure) {
            try quotas.check(plan)
            return nil
        } catch { return error.reason }
    }

    @Test("a plan that asks for exactly what is allowed is accepted, for one more it is not")
    func limits() throws {
        for (quota, amount) in Quotas.asked(by: try plan()) {
            #expect(amount > 0)
            #expect(try refusal(quota, amount) == nil)
            #expect(try refusal(quota, amount - 1) == .quotaExceeded(quota: quota, asked: amount, most: amount - 1))
        }
        let asked = Quotas.asked(by: try plan())
        #expect(asked.map(\.quota) == [.pixels, .duration, .frames, .tracks])
        #expect(asked.map(\.amount)[0] == 320 * 240)
        #expect(asked.map(\.amount)[2...] == [30, 1])
        try Quotas().check(plan())
    }

    @Test("the larger of source and output counts as the picture")
    func sourcePixels() throws {
        let stream = Self.index.video.stream
        let asked = Quotas.asked(by: try plan(), of: [Self.index])[0].amount
        #expect(asked == max(320 * 240, Int64(stream.width * stream.height)))
    }

    @Test("what the kernel does to a pass that takes too much is put in the quota's words")
    func explained() throws {
        var quotas = Quotas()
        let large = ReelFailure(.fileFailed(path: "/s", step: .write, errno: 27, passes: false))
        let slow = ReelFailure(.engineDied(place: .assembly, end: .signalled(signal: 24), lastWords: nil))
        for failure in [large, slow] { #expect(try quotas.allowance().explained(failure) == failure) }
        (quotas[.output], quotas[.passCPU]) = (1000, 60)
        let allowance = try quotas.allowance()
        #expect(allowance.explained(large).reason == .quotaExceeded(quota: .output, asked: nil, most: 1000))
        #expect(allowance.explained(slow).reason == .quotaExceeded(quota: .passCPU, asked: nil, most: 60))
        let other = ReelFailure(.fileFailed(path: "/s", step: .write, errno: 28, passes: false))
        #expect(allowance.explained(other) == other)
        quotas[.jobCPU] = 100
        #expect(
            try quotas.allowance(cpu: 50).explained(slow).reason
                == .quotaExceeded(quota: .jobCPU, asked: nil, most: 100))
    }

    @Test("a pass may take what its own quota allows, or what its job has left if that is less")
    func allowances() throws {
        var quotas = Quotas()
        #expect(try quotas.allowance(elapsed: 1e300, cpu: 1e300).time == nil)
        #expect(!quotas.countsJobs)
        (quotas[.passTime], quotas[.jobTime], quotas[.jobCPU]) = (60, 100, 1000)
        #expect(quotas.countsJobs)
        let seconds = try [0, 39.9, 40.5, 41, 99.9].map { try quotas.allowance(elapsed: $0).time?.seconds }
        #expect(seconds == [60, 60, 60, 59, 1])
        #expect(try quotas.allowance(cpu: 400.2).cpu?.seconds == 600)
        for elapsed in [100, 1e300] {
            let failure = #expect(throws: ReelFailure.self) { try quotas.allowance(elapsed: elapsed) }
            #expect(failure?.reason == .quotaExceeded(quota: .jobTime, asked: nil, most: 100))
        }
        let failure = #expect(throws: ReelFailure.self) { try quotas.allowance(cpu: 1000) }
        #expect(failure?.reason == .quotaExceeded(quota: .jobCPU, asked: nil, most: 1000))
    }
}
