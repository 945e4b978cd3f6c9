internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelStore

/// Joining segments and verifying the result, compared with copying it.
struct AssemblySection {
    let runner: SuiteRunner
    /// A source whose output is large if it is encoded with `manyBytes`.
    let large: String
    /// A source with few pixels and many frames, of which each three become a segment.
    let long: String

    func run() async throws -> Section {
        var section = Section("Assembly")
        section.say(
            "The engine's request to assemble and verify, alone, on the segments of a finished job; beside `cp` of its "
                + "output, and `cp` with `sync`, since reel's output is on the disk when it says so.")
        let (few, size, count) = try await measure(large, AssemblySection.manyBytes)
        let (many, _, thousands) = try await measure(
            long, ["--preset", "ultrafast", "--crf", "30", "--audio", "none", "--pass-frames", "3"], again: 1)
        func row(_ name: String, _ rounds: Rounds, _ command: String) -> [String] {
            [
                name, duration(rounds.median(command, \.wall)), duration(rounds.median(command, \.cpu)),
                megabytes(rounds.median(command) { Double($0.peakRSS) }),
                figure(rounds.median(command) { Double($0.peakFiles) }, "%.0f"),
            ]
        }
        section.table(
            ["", "wall", "CPU", "memory", "open files"],
            [
                row("\(count) segments, \(megabytes(Double(size)))", few, "assembly"),
                row("`cp` of that output", few, SuiteRunner.copy),
                row(SuiteRunner.syncedCopy, few, SuiteRunner.syncedCopy),
                row("\(thousands) segments", many, "assembly"),
            ])
        section.goals = [
            Goal(
                name: "assembly with verification ÷ `cp` of the output, in time", aim: .atMost(3),
                found: [
                    ("", few.ratio("assembly", to: SuiteRunner.copy, \.wall)),
                    ("`cp` with `sync`", few.ratio("assembly", to: SuiteRunner.syncedCopy, \.wall)),
                ]),
            Goal(
                name: "\(thousands) segments: open files", aim: .atMost(16 + AssemblySection.otherFiles),
                found: [
                    ("16 segments and what every engine has open", many.median("assembly") { Double($0.peakFiles) })
                ],
                format: "%.0f"),
            Goal(
                name: "\(thousands) segments: memory ÷ that for \(count)", aim: .atMost(1.5),
                found: [
                    ("", many.median("assembly") { Double($0.peakRSS) } / few.median("assembly") { Double($0.peakRSS) })
                ]),
        ]
        return section
    }

    /// Segments of many bytes for little work.
    static let manyBytes = ["--video-codec", "mjpeg"]

    /// Standard streams, the protocol's, source, output, index.
    private static let otherFiles = 9.0

    /// Finishes a job, and measures its assembly repeatedly.
    private func measure(_ source: String, _ options: [String], again rounds: Int? = nil)
        async throws -> (Rounds, size: Int, segments: Int)
    {
        try await PrivateBoard.with(runner) { board in
            let job = try board.job(try await board.finish(source, options, slots: 2))
            var taken = Rounds()
            let result = try AssemblySection.output(of: job, in: runner)
            defer { runner.remove(result) }
            for _ in 1...(rounds ?? runner.rounds) {
                taken.add("assembly", try await AssemblySection.assembly(of: job, source, in: runner))
                try await runner.addCopies(of: result, to: &taken)
            }
            return (taken, try runner.size(result), try await AssemblySection.segments(of: job).count)
        }
    }

    private static func output(of job: JobFolder, in runner: SuiteRunner) throws -> String {
        runner.work("assembled.\(try AssemblySection.plan(of: job).container.rawValue)")
    }

    /// The job's plan. Throws if it has none.
    static func plan(of job: JobFolder) throws -> Plan {
        let plan = try job.latestPlan()
        return try job.readPlan(plan?.number ?? 1)
    }

    private static func segments(of job: JobFolder) async throws -> [SegmentRecord] {
        let plan = try plan(of: job)
        let planned = PlannedSegments(plan: plan, indexes: try await job.readIndexes(of: plan))
        return job.wholeSegments(plan.passes.map(planned.contents)).joined().compactMap(\.self)
    }

    /// Lets an engine alone join the segments of a finished job again.
    static func assembly(of job: JobFolder, _ source: String, in runner: SuiteRunner) async throws -> Measurement {
        let segments = try await segments(of: job)
        return try await runner.measure(
            "assembly of \(segments.count)",
            engine: [.request(try await request(job, source, in: runner)), .segments(job.stored(segments))])
    }

    /// The same if the last segment of a reversed film comes when all others are joined: the seconds of joining those, and
    /// from the last segment to the end.
    static func assemblyInParts(
        of job: JobFolder, _ source: String, in runner: SuiteRunner
    ) async throws -> (joining: Double, afterLast: Double) {
        var segments = try await segments(of: job)
        guard let last = segments.indices.min(by: { firstFrame(of: segments[$0]) < firstFrame(of: segments[$1]) })
        else { throw Trouble("the job has no segments") }
        let late = segments.remove(at: last)
        let taken = try await runner.measure(
            "assembly of \(segments.count) and one",
            engine: [.request(try await request(job, source, in: runner)), .segments(job.stored(segments))],
            late: .segments(job.stored([late])))
        return (taken.before, taken.after)
    }

    /// The first frame of a segment in the source; that of sound is after all of video.
    private static func firstFrame(of segment: SegmentRecord) -> Int {
        if case .video(let frames) = segment.content.part { frames.lowerBound } else { .max }
    }

    private static func request(
        _ job: JobFolder, _ source: String, in runner: SuiteRunner
    ) async throws -> EngineRequest {
        let plan = try plan(of: job)
        let output = try output(of: job, in: runner)
        runner.remove(output)
        return .assemble(
            AssembleRequest(
                job: JobFiles(
                    sources: try await job.store.indexes(of: plan, job.read()).map {
                        SourceFiles(source: .file(source), index: $0)
                    }, plan: job.plan(plan.number)),
                output: .file(output)))
    }
}
