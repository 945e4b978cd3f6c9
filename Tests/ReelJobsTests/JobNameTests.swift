import ReelCore
import ReelJobs
import Testing

@Suite("Names of jobs")
struct JobNameTests {
    private let ids = ["3f2a5d0c9be17c44", "3f2b81c05d0c2f3a", "81c0aaaaaaaaaaaa", "a1"].map(JobID.init)

    @Test(
        "the beginning of one id names it, in any case",
        arguments: ["81", "81C0", "3f2a", "3F2A5D0C9BE17C44", "a1", "A"])
    func beginning(_ text: String) throws {
        let found = try JobName(text).job(among: ids)
        #expect(found?.text.hasPrefix(text.lowercased()) == true)
    }

    @Test("the beginning of several is refused, and names them; their number is limited")
    func ambiguous() throws {
        let failure = #expect(throws: ReelFailure.self) { try JobName("3F2").job(among: ids + ids) }
        #expect(failure?.reason == .jobAmbiguous(name: "3F2", matches: [ids[0], ids[1]]))
        let many = (10..<30).map { JobID("b\($0)") }
        let other = #expect(throws: ReelFailure.self) { try JobName("b").job(among: many) }
        #expect(other?.reason == .jobAmbiguous(name: "b", matches: Array(many.prefix(5))))
    }

    @Test("an id that another begins with is that id")
    func exact() throws {
        #expect(try JobName("b1").job(among: ["b1", "b12"].map(JobID.init)) == JobID("b1"))
        #expect(try JobName("zz").job(among: ids) == nil)
        #expect(try JobName("").job(among: [JobID("a1")]) == nil, "every id begins with nothing")
    }
}
