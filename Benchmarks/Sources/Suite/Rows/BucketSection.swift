internal import Foundation
internal import ReelCore
internal import ReelQueue

/// A farm whose store is in a bucket beside one whose store is a folder, and the requests that it makes.
struct BucketSection {
    let runner: SuiteRunner
    /// A video with sound, of a minute unless the suite is quick.
    let source: String

    private static let (folder, bucket) = ("file, store in a folder", "file, store in a bucket")
    private static let object = "object, store in a bucket"
    /// The cores of the machine. The last one is the store's, as if it had a machine of its own.
    private static let cores = ProcessInfo.processInfo.activeProcessorCount

    func run() async throws -> Section {
        var section = Section("A store in a bucket")
        guard let program = ObjectStoreServer.program else {
            section.say("Not measured: set `REEL_OBJECT_STORE` to a program that serves a store (FOLDER PORT).")
            return section
        }
        guard Self.cores > 1 else {
            section.say("Not measured: the object store needs a core of its own.")
            return section
        }
        try await runner.warm(source)
        try await ObjectStoreServer.with(runner, program, core: Self.cores - 1) { server in
            try await server.asSettings(port: server.port) {
                for name in ["footage", "reel"] { try await server.makeBucket(name) }
                _ = try await runner.text(["aws", "s3", "cp", "--quiet", source, Self.address])
                try await compare(&section)
            }
            try await WebFront.with(runner, files: runner.work("none"), store: server.port) { front in
                try await server.asSettings(port: front.storePort) { try await count(front, &section) }
            }
        }
        return section
    }

    private static let address = "s3://footage/source.mp4"

    // MARK: Time

    private func compare(_ section: inout Section) async throws {
        var rounds = Rounds()
        for round in 1...runner.rounds {
            for (name, source, bucket) in [
                (Self.folder, source, nil), (Self.bucket, source, "s3://reel/file-\(round)"),
                (Self.object, Self.address, "s3://reel/object-\(round)"),
            ] {
                let cores = Self.cores - 1
                try await PrivateBoard.with(runner, bucket: bucket, cores: cores) { board in
                    try await board.withWorker(slots: cores) { rounds.add(name, try await job(source, on: board)) }
                }
            }
        }
        section.say(
            "From `submit` to the output beside the source, on all cores but one, with as many slots. The object store "
                + "has the last core, as if it had a machine of its own. A file is copied into a bucket first."
        )
        section.table(
            ["", "wall", "wall ÷ that with a folder"],
            rounds.names.map {
                [$0, duration(rounds.median($0, \.wall)), figure(rounds.ratio($0, to: Self.folder, \.wall))]
            })
        section.goals.append(
            Goal(
                name: "wall, store in a bucket ÷ in a folder", aim: .atMost(1.05),
                found: [("file", Self.bucket), ("object", Self.object)].map {
                    ($0.0, rounds.ratio($0.1, to: Self.folder, \.wall))
                }))
    }

    private func job(
        _ source: String, on board: PrivateBoard, _ options: [String] = []
    ) async throws -> Measurement {
        let output = runner.output + ".mp4"
        runner.remove(output)
        return try await runner.measure(
            "\(source) by \(board.place.last ?? "")",
            board.submission(source, ["--wait", "--overwrite", "-o", output] + Peer.reelCoding + options))
    }

    // MARK: Requests

    private func count(_ front: WebFront, _ section: inout Section) async throws {
        let size = try runner.size(source)
        var (passes, ofPictures) = (0, 0)
        let recon = try await front.requests {
            _ = try await runner.measure("plan \(Self.address)", [runner.coordinator, "plan", Self.address, "--json"])
        }
        let all = try await PrivateBoard.with(runner, bucket: "s3://reel/counted") { board in
            try await board.withWorker(slots: 2) {
                let all = try await front.requests { _ = try await job(Self.address, on: board) }
                passes = try await board.board().latestJobs(ended: 1).jobs.first?.passes.done ?? 0
                let pictures = try await front.requests {
                    _ = try await job(Self.address, on: board, ["--audio", "none"])
                }
                ofPictures = sum(pictures.filter { $0.path.hasPrefix("/footage") }, \.received)
                return all
            }
        }
        guard passes > 0 else { throw Trouble("the job has no passes") }
        let (own, footage) = (all.filter { $0.path.hasPrefix("/reel") }, all.filter { $0.path.hasPrefix("/footage") })
        section.say("Requests of a job of \(passes) passes, from `submit` to the output, by a worker that waits:")
        var rows: [[String]] = []
        for (name, requests) in [
            ("all", all), ("of the store", own), ("of the source", footage), ("of recon alone", recon),
        ] {
            rows.append([
                name, "\(requests.count)", figure(Double(requests.count) / Double(passes), "%.1f"),
                megabytes(Double(sum(requests, \.sent))), megabytes(Double(sum(requests, \.received))),
            ])
        }
        section.table(["", "requests", "a pass", "sent", "received"], rows)
        section.goals += [
            Goal(
                name: "bytes that passes of pictures read ÷ the source", aim: .atMost(1.1),
                found: [("", Double(ofPictures - sum(recon, \.received)) / Double(size))]),
            Goal(
                name: "requests of the store a pass", aim: .atMost(5),
                found: [("", Double(own.count) / Double(passes))], format: "%.1f"),
        ]
    }

    private func sum(_ requests: [WebFront.Request], _ bytes: (WebFront.Request) -> Int) -> Int {
        requests.map(bytes).reduce(0, +)
    }
}
