internal import Foundation
internal import HeapModule
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// A film of two hours on 1 to 1,000 slots, simulated from what passes, recon and assembly cost here.
struct ClusterSection {
    let runner: SuiteRunner
    /// The measured source, and the film of many repetitions of it.
    let source: String
    let film: String
    /// A source whose output is gigabytes, to measure what each byte costs the assembly.
    let large: String

    private static let slotCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]

    func run() async throws -> Section {
        var costs = try await measureCosts()
        costs.assemblyPerByte = try await PrivateBoard.with(runner) { board in
            let job = try board.job(try await board.finish(large, AssemblySection.manyBytes, slots: 2))
            let taken = try await AssemblySection.assembly(of: job, large, in: runner)
            return taken.wall / Double(taken.written)
        }
        let recon = try await runner.measure("recon of the film", [runner.coordinator, "plan", film, "--json"]).wall
        let (indexes, plan, spec) = try await PrivateBoard.with(runner) { board in
            let said = try await runner.text(board.submission(film, Peer.reelCoding))
            guard let id = said.split(separator: "\n").first else { throw Trouble("submit printed no job") }
            let job = try board.job(String(id))
            return (
                try await job.readIndexes(of: AssemblySection.plan(of: job)),
                try AssemblySection.plan(of: job), try job.read().spec
            )
        }
        let frames = Double(plan.frameCount)
        let assembly = costs.assembly(frames: frames)
        var rows: [[String]] = []
        var speedups: [(Double, Double)] = []
        var alone = 0.0
        for slots in ClusterSection.slotCounts {
            let plan = try Planner(slots: slots).plan(
                PlanInput(
                    indexes: indexes, indexHashes: plan.sources.map(\.indexHash), spec: spec, video: plan.video,
                    audio: plan.audio))
            let passes = plan.passes.map { costs.seconds(of: $0, filmFrames: frames) }
            let work = ClusterSection.makespan(of: passes, slots: slots)
            let all = recon + work + assembly
            if slots == 1 { alone = all }
            speedups.append((Double(slots), alone / all))
            rows.append([
                "\(slots)", "\(passes.count)", duration(recon), duration(work), duration(passes.max() ?? 0),
                duration(assembly),
                duration(all), figure(alone / all, "%.1f"), figure(100 * alone / all / Double(slots), "%.0f %%"),
            ])
        }
        var section = Section("A cluster, simulated")
        section.say(
            "\(figure(frames, "%.0f")) frames of 1080p with sound, \(figure(frames / 24 * 1.001 / 3600, "%.1f")) hours: the planner's own "
                + "plan for each number of slots, each pass at the cost that passes had here (decoding "
                + "\(figure(1000 * costs.decode)) ms and encoding \(figure(1000 * costs.encode)) ms a frame, "
                + "\(figure(1000 * costs.start, "%.0f")) ms beside that a pass, sound \(figure(1000 * costs.sound, "%.3f")) ms a frame of "
                + "video), given out in the plan's order to whichever slot is free. Recon was measured on the film itself, the "
                + "assembly on a shorter one and on \(megabytes(try Double(runner.size(large)))) of MJPEG, for what bytes cost. All slots are as fast as this machine's, and so is their store."
        )
        section.table(
            [
                "slots", "passes", "recon", "passes' time", "longest pass", "assembly", "in all", "times as fast",
                "of the ideal",
            ], rows)
        section.show(
            "cluster.svg",
            Chart.lines(
                [
                    Chart.Line(name: "reel", points: speedups),
                    Chart.Line(
                        name: "without serial parts",
                        points: ClusterSection.slotCounts.prefix { $0 <= 128 }.map { (Double($0), Double($0)) }),
                ],
                x: "slots", y: "times as fast as one slot"))
        return section
    }

    /// Seconds.
    private struct Costs {
        /// Of a frame.
        var decode = 0.0
        var encode = 0.0
        var sound = 0.0
        /// Of a pass.
        var start = 0.0

        /// The assembly of a shorter film, and what each byte of output costs beyond.
        var shortAssembly = 0.0
        var shortFrames = 0.0
        var bytesPerFrame = 0.0
        var assemblyPerByte = 0.0

        func assembly(frames: Double) -> Double {
            shortAssembly + (frames - shortFrames) * bytesPerFrame * assemblyPerByte
        }

        func seconds(of pass: Pass, filmFrames: Double) -> Double {
            switch pass {
            case .video(let pass):
                let decoded = Double(pass.frames.upperBound - pass.frames.lowerBound)
                return start + decoded * (decode + encode)
            default: return start + filmFrames * sound
            }
        }
    }

    /// What a job's passes cost on one slot, and its assembly.
    private func measureCosts() async throws -> Costs {
        try await PrivateBoard.with(runner) { board in
            let began = ContinuousClock.now
            let id = try await board.finish(source, Peer.reelCoding, slots: 1)
            let wall = (ContinuousClock.now - began) / .seconds(1)
            let results = try await board.board().results(JobID(id))
            let plan = try AssemblySection.plan(of: try board.job(id))
            var (video, sound, videoPasses) = (PassStatistics(), 0.0, 0)
            for (place, result) in results {
                guard plan.passes.indices.contains(place), case .video = plan.passes[place] else {
                    sound += result.statistics.decodeSeconds + result.statistics.encodeSeconds
                    continue
                }
                videoPasses += 1
                video.framesDecoded += result.statistics.framesDecoded
                video.framesEncoded += result.statistics.framesEncoded
                video.decodeSeconds += result.statistics.decodeSeconds
                video.encodeSeconds += result.statistics.encodeSeconds
                video.waitSeconds += result.statistics.waitSeconds
            }
            let frames = Double(video.framesEncoded)
            let recon = try await runner.measure("recon", [runner.coordinator, "plan", source, "--json"]).wall
            let assembly = try await AssemblySection.assembly(of: board.job(id), source, in: runner)
            // The rest of the job's time is divided among its passes.
            let known = recon + assembly.wall + sound + video.decodeSeconds + video.encodeSeconds
            return Costs(
                decode: video.decodeSeconds / Double(video.framesDecoded), encode: video.encodeSeconds / frames,
                sound: sound / frames,
                start: max(0, wall - known) / Double(max(videoPasses, 1)), shortAssembly: assembly.wall,
                shortFrames: frames, bytesPerFrame: Double(assembly.written) / frames)
        }
    }

    /// When the last pass ends if each slot takes the next as soon as it is free.
    private static func makespan(of passes: [Double], slots: Int) -> Double {
        var free = Heap<Double>()
        for _ in 0..<slots { free.insert(0) }
        var end = 0.0
        for pass in passes {
            let time = (free.popMin() ?? 0) + pass
            end = max(end, time)
            free.insert(time)
        }
        return end
    }
}
