import Foundation

/// The result of one seed.
struct ChaosRow {
    var seed: UInt64
    var jobs = 0
    var workersKilled = 0
    var enginesKilled = 0
    var workersStopped = 0
    var redisRestarts = 0
    /// Starts that Redis refused, as `Fleet.keepRedis` says.
    var redisRefusals = 0
    /// Bytes.
    var logCut = 0
    var coordinatorsKilled = 0
    /// How often Redis was killed while a job was submitted.
    var redisKilledSubmitting = 0
    /// How often Redis had lost a job that then came back by itself.
    var jobsBack = 0
    var assemblersKilled = 0
    var assemblersStopped = 0
    /// With the assemblies.
    var passes = 0
    /// Passes that an engine began more than once.
    var begunAgain = 0
    /// Passes whose segments the next holder found whole.
    var foundWhole = 0
    /// How often Redis was made a replica.
    var demotions = 0
    /// Segments of finished passes that were changed or removed, and folders of jobs.
    var segmentsHarmed = 0
    var foldersLost = 0
    /// How often a worker could not write in the store.
    var storesClosed = 0
    /// How often a worker's calls to the store did not return for a while.
    var storesHung = 0
    /// How often a wall clock was set.
    var clocksSet = 0
    /// How often a job got another weight.
    var jobsWeighed = 0
    /// How often a job got another name.
    var jobsRenamed = 0
    /// Further jobs that a person cancelled, and the jobs that had ended by then.
    var othersCancelled = 0
    var othersDone = 0
    /// Results that were taken back.
    var takenBack = 0
    /// Jobs that failed since their folder was removed.
    var failuresSubmittedAgain = 0
    /// Seconds from the kill of a worker to its pass being elsewhere: the longest while Redis stood.
    var recovery = 0.0
    /// The same if Redis was restarted meanwhile, which leaves workers a lease to report.
    var recoveryWithRestart = 0.0
    /// Broken rules, a sentence each.
    var faults: [String] = []

    static let titles = [
        "seed", "jobs", "workers killed", "engines killed", "workers stopped", "Redis restarts", "starts refused",
        "AOF bytes cut", "coordinators killed", "Redis killed under a submission", "lost jobs that came back",
        "assemblers killed", "assemblers stopped", "passes", "begun more than once", "found whole", "Redis demoted",
        "segments harmed", "job folders removed", "stores closed", "stores hung", "clocks set", "jobs weighed",
        "jobs renamed", "others cancelled", "others done first", "results taken back", "failed and submitted again",
        "seconds to recover", "with Redis disturbed", "verdict",
    ]

    /// As a row of a table in Markdown.
    var text: String {
        let counts = [
            jobs, workersKilled, enginesKilled, workersStopped, redisRestarts, redisRefusals, logCut,
            coordinatorsKilled, redisKilledSubmitting, jobsBack, assemblersKilled, assemblersStopped, passes,
            begunAgain, foundWhole, demotions, segmentsHarmed, foldersLost, storesClosed, storesHung, clocksSet,
            jobsWeighed, jobsRenamed, othersCancelled, othersDone, takenBack, failuresSubmittedAgain,
        ]
        let seconds = [recovery, recoveryWithRestart].map { $0 > 0 ? "\(($0 * 10).rounded() / 10)" : "-" }
        let verdict = faults.isEmpty ? "done, exact" : "WRONG: \(faults.joined(separator: "; "))"
        return ChaosRow.line(["\(seed)"] + counts.map { "\($0)" } + seconds + [verdict])
    }

    static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}

/// Compares segments while they come and go: a segment that is made again must be the same.
struct SegmentWatch {
    private struct Record: Decodable {
        struct Content: Decodable {
            var frames: [Int]?
            var track: Int?
        }
        var content: Content
        var checksum: String
    }

    private var seen: Set<String> = []
    private var checksums: [String: String] = [:]

    /// What should not be among the segments that have become whole since the last look, a sentence each.
    mutating func look(into fleet: Fleet) -> [String] {
        var faults: [String] = []
        for job in fleet.jobs {
            let folder = "\(fleet.store)/jobs/\(job)/segments"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".nut.json") && !seen.contains("\(job)/\(name)") {
                // It goes with its job's end.
                guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                    let record = try? JSONDecoder().decode(Record.self, from: data)
                else { continue }
                seen.insert("\(job)/\(name)")
                let run = "\(job)/\(record.content)"
                if checksums[run, default: record.checksum] != record.checksum {
                    faults.append("two segments of run \(run) differ")
                }
                checksums[run] = record.checksum
            }
        }
        return faults
    }
}
