internal import Foundation
internal import Glibc

/// All that is measured, one part after the other.
struct Suite {
    let runner: SuiteRunner
    let parts: [SuitePart]

    private static let film = (text: "24000/1001", value: 24_000.0 / 1001)

    /// A part that fails does not stop the others: the page reports the failure in place of its results.
    func run() async -> (sections: [Section], isWhole: Bool) {
        var (sections, isWhole): ([Section], Bool) = ([], true)
        for part in parts {
            runner.say("— \(part.rawValue)")
            do {
                sections += try await run(part)
            } catch {
                runner.say("\(part.rawValue) failed: \(error)")
                var section = Section("The part \(part.rawValue) failed")
                section.say("\(error)")
                sections.append(section)
                isWhole = false
            }
        }
        return (sections, isWhole)
    }

    private func run(_ part: SuitePart) async throws -> [Section] {
        switch part {
        case .peers: try await peers()
        case .memory:
            [try await MemorySection(runner: runner, sources: memorySources).run()]
                + (runner.isQuick ? [] : try await wholeJob())
        case .recon:
            [
                try await ReconSection(runner: runner, source: try await long(minutes: runner.isQuick ? 30 : 600))
                    .run(),
                try await SequentialReconSection(runner: runner, sources: try await withoutTable()).run(),
            ]
        case .assembly:
            [
                try await AssemblySection(
                    runner: runner, large: try await large(mjpeg),
                    long: try await small.file(in: runner)
                ).run()
            ]
        case .copy:
            [
                try await CopySection(
                    runner: runner,
                    sources: [
                        ("MJPEG", try await large(mjpeg)), ("ProRes", try await large(prores)),
                    ]
                ).run()
            ]
        case .edits:
            [
                try await EditsSection(runner: runner, source: try await hd.file(in: runner), seconds: hd.seconds).run()
            ]
        case .sandbox: [try await SandboxSection(runner: runner, source: try await hd.file(in: runner)).run()]
        case .slots:
            [
                try await SlotsSection(
                    runner: runner, name: tenMinutes.name, source: try await tenMinutes.file(in: runner),
                    seconds: runner.isQuick ? 30 : 300
                ).run()
            ]
        case .bitrate: [try await BitrateSection(runner: runner, sources: try await contents()).run()]
        case .board: [try await BoardSection(runner: runner, source: try await hd.file(in: runner)).run()]
        case .cluster:
            [
                try await ClusterSection(
                    runner: runner, source: try await fullHD.file(in: runner),
                    film: try await repeated(fullHD, times: Int(7200 / fullHD.seconds)),
                    shortFilm: try await repeated(fullHD, times: runner.isQuick ? 2 : Int(600 / fullHD.seconds)),
                    withoutTable: try await withoutTable()
                ).run()
            ]
        case .stores:
            [
                try await BucketSection(runner: runner, source: try await hd.file(in: runner)).run(),
                try await WebSection(
                    runner: runner, film: try await long(minutes: runner.isQuick ? 5 : 90),
                    withoutTable: try await withoutTable()
                ).run(),
                try await SecuredBoardSection(runner: runner).run(),
            ]
        }
    }

    // MARK: Sources

    private var hd: SuiteSource {
        SuiteSource(name: "720p", seconds: runner.isQuick ? 20 : 60, coding: .h264(groups: SuiteSource.closedGroups))
    }

    private var fullHD: SuiteSource {
        SuiteSource(
            name: "1080p", width: 1920, height: 1080, rate: Suite.film, seconds: runner.isQuick ? 12 : 60,
            coding: .h264(groups: SuiteSource.closedGroups))
    }

    private var tenMinutes: SuiteSource {
        SuiteSource(
            name: "480p", kind: .drawing, width: 848, height: 480, seconds: runner.isQuick ? 30 : 600,
            coding: .h264(groups: SuiteSource.closedGroups))
    }

    private var mjpeg: SuiteSource {
        SuiteSource(
            name: "720p MJPEG", rate: ("60000/1001", 60_000.0 / 1001), seconds: runner.isQuick ? 8 : 30,
            coding: .mjpeg)
    }

    private var prores: SuiteSource {
        SuiteSource(
            name: "1080p ProRes", width: 1920, height: 1080, rate: Suite.film, seconds: runner.isQuick ? 4 : 30,
            depth: 10,
            coding: .prores)
    }

    /// 30,000 small frames.
    private var small: SuiteSource {
        SuiteSource(
            name: "small", kind: .talk, width: 160, height: 92, seconds: runner.isQuick ? 100 : 1002,
            coding: .h264(groups: "keyint=infinite:scenecut=0"))
    }

    private var memorySources: [(source: SuiteSource, mostDecoded: Double?)] {
        let isQuick = runner.isQuick
        let open = SuiteSource(
            name: "720p open groups", rate: Suite.film, seconds: isQuick ? 10 : 60,
            coding: .h264(groups: SuiteSource.openGroups))
        let one = SuiteSource(
            name: "720p one key frame", rate: ("60000/1001", 60_000.0 / 1001), seconds: isQuick ? 10 : 30,
            coding: .h264(groups: SuiteSource.oneGroup))
        let ultra = SuiteSource(
            name: "2160p HEVC 10-bit", width: 3840, height: 2160, rate: Suite.film, seconds: isQuick ? 3 : 30,
            depth: 10,
            coding: .hevc)
        return [(hd, 1), (fullHD, 1), (open, 1.03), (one, nil), (tenMinutes, 1), (ultra, nil), (mjpeg, 1), (prores, 1)]
    }

    /// Three kinds of content.
    private func contents() async throws -> [(name: String, file: String)] {
        var found: [(name: String, file: String)] = []
        for kind in FootageKind.allCases {
            let source = SuiteSource(
                name: "480p \(kind.rawValue)", kind: kind, width: 848, height: 480, seconds: runner.isQuick ? 17 : 48,
                coding: .h264(groups: SuiteSource.closedGroups))
            found.append((kind.rawValue, try await source.file(in: runner)))
        }
        return found
    }

    /// 1080p at 60 frames a second and few bits, 3 Mbit/s, ten seconds over and over.
    private func long(minutes: Int) async throws -> String {
        let source = SuiteSource(
            name: "1080p of 3 Mbit", kind: .talk, width: 1920, height: 1080, rate: ("60000/1001", 60_000.0 / 1001),
            seconds: 10.01,
            coding: .h264(groups: SuiteSource.closedGroups + ":bitrate=3000:vbv-maxrate=3000:vbv-bufsize=6000"))
        return try await repeated(source, times: minutes * 6)
    }

    /// Twenty minutes of 1080p in containers that have no table of their packets.
    private func withoutTable() async throws -> [(name: String, file: String)] {
        let film = try await repeated(fullHD, times: runner.isQuick ? 2 : Int(1200 / fullHD.seconds))
        var found: [(name: String, file: String)] = []
        for (name, container) in [("Matroska", "mkv"), ("MPEG-TS", "ts")] {
            let path = film.replacing(".mp4", with: ".\(container)")
            if !FileManager.default.fileExists(atPath: path) {
                let part = "\(runner.folder)/sources/part-\(getpid()).\(container)"
                _ = try await runner.text(
                    ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", film, "-c", "copy", part])
                try FileManager.default.moveItem(atPath: part, toPath: path)
            }
            found.append((name, path))
        }
        return found
    }

    /// Of 3.5 GiB: long enough that what a job costs beside its bytes hardly counts.
    private func large(_ source: SuiteSource) async throws -> String {
        let times = if case .mjpeg = source.coding { 12 } else { 6 }
        return try await repeated(source, times: runner.isQuick ? 4 : times)
    }

    private func repeated(_ source: SuiteSource, times: Int) async throws -> String {
        let path =
            "\(runner.folder)/sources/\(source.name.replacing(" ", with: "-"))-\(Int(source.seconds))s-x\(times).\(source.fileExtension)"
        if FileManager.default.fileExists(atPath: path) { return path }
        let (file, part) = (
            try await source.file(in: runner), "\(runner.folder)/sources/part-\(getpid()).\(source.fileExtension)"
        )
        _ = try await runner.text(
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop", "\(times - 1)", "-i", file, "-c", "copy", part])
        try FileManager.default.moveItem(atPath: part, toPath: path)
        return path
    }

    // MARK: Parts of several

    private func peers() async throws -> [Section] {
        var cpu = Goal(name: "CPU of the whole job ÷ one-threaded forward `ffmpeg`", aim: .atMost(1.06), found: [])
        var filter = Goal(name: "wall, two slots ÷ `ffmpeg -vf reverse`", aim: .atMost(0.65), found: [])
        var forward = Goal(name: "wall, two slots ÷ multi-threaded forward `ffmpeg`", aim: .atMost(0.97), found: [])
        var sections: [Section] = []
        for source in [hd, fullHD] {
            let file = try await source.file(in: runner)
            let (section, rounds, facts) = try await PeerSection(
                runner: runner, source: file, name: source.name, seconds: source.seconds
            ).run()
            func against(_ peer: Peer, _ value: (Measurement) -> Double) -> Double {
                rounds.ratio(Peer.reel.rawValue, to: peer.rawValue, value)
            }
            func floor(_ peer: Peer, _ value: (Measurement) -> Double) -> String {
                "\(figure(rounds.ratio(PeerSection.halves, to: peer.rawValue, value))) \(source.name)"
            }
            cpu.found.append((source.name, against(.forwardOneThread, \.cpu)))
            filter.found.append((source.name, against(.filter, \.wall)))
            forward.found.append((source.name, against(.forward, \.wall)))
            cpu.addFloor(floor(.forwardOneThread, \.cpu))
            filter.addFloor(floor(.filter, \.wall))
            forward.addFloor(floor(.forward, \.wall))
            sections.append(section)
            if source.name == hd.name {
                let each = rounds.median(Peer.reel.rawValue, \.cpu) / Double(facts.frames)
                sections.append(try await MeltSection(runner: runner, source: file, reelCPUPerFrame: each).run())
            }
        }
        sections[0].goals = [cpu, filter, forward]
        return sections
    }

    /// Five minutes of 1080p, which the reverse filter cannot hold.
    private func wholeJob() async throws -> [Section] {
        let minute = try await fullHD.file(in: runner)
        let times = Int(300 / fullHD.seconds)
        let film = try await repeated(fullHD, times: times)
        let output = runner.output + ".mp4"
        runner.remove(output)
        let reel = try await runner.measure("five minutes", Peer.reel.command(film, output: output, in: runner))
        let filter = try await runner.measure("the filter", Peer.filter.command(minute, output: output, in: runner))
        var section = Section("Five minutes of 1080p")
        section.say(
            "All processes of reel's whole job together took \(megabytes(Double(reel.peakSum))). The reverse filter took "
                + "\(megabytes(Double(filter.peakRSS))) for \(figure(fullHD.seconds, "%.0f")) s of it; it holds every frame, so "
                + "that is \(times) times as much for five minutes, more than this machine has: scaled, not measured.")
        section.goals = [
            Goal(
                name: "whole job's memory ÷ the reverse filter's, five minutes of 1080p", aim: .atMost(0.1),
                found: [("", Double(reel.peakSum) / (Double(filter.peakRSS) * Double(times)))], format: "%.3f")
        ]
        return [section]
    }
}
