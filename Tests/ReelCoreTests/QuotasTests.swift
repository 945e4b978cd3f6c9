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
    func explained() {
        var quotas = Quotas()
        let large = ReelFailure(.fileFailed(path: "/s", step: .write, errno: 27, passes: false))
        let slow = ReelFailure(.engineDied(place: .assembly, end: .signalled(signal: 24), lastWords: nil))
        for failure in [large, slow] { #expect(quotas.explained(failure) == failure) }
        (quotas[.output], quotas[.passCPU]) = (1000, 60)
        #expect(quotas.explained(large).reason == .quotaExceeded(quota: .output, asked: nil, most: 1000))
        #expect(quotas.explained(slow).reason == .quotaExceeded(quota: .passCPU, asked: nil, most: 60))
        let other = ReelFailure(.fileFailed(path: "/s", step: .write, errno: 28, passes: false))
        #expect(quotas.explained(other) == other)
    }
}
