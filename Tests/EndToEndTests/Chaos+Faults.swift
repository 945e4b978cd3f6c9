import Foundation
import Glibc
import ReelTestSupport

extension Chaos {
    func perform(_ fault: ChaosPlan.Fault, on sight: BoardSight, choice: Int) async throws {
        switch fault {
        case .killWorker(let delay):
            guard let (worker, _) = await victim(sight, choice) else { return }
            try await kill(worker, sight, replacedAfter: delay)
            row.workersKilled += 1
        case .killEngine:
            guard let (worker, index) = await victim(sight, choice), mayCrash(index, sight),
                let engine = worker.children("reel-engine").first
            else { return }
            engineKills["\(job)/\(index)", default: 0] += 1
            Glibc.kill(engine, SIGKILL)
            row.enginesKilled += 1
        case .stopWorker(let duration, let withEngine):
            guard stopped.isEmpty, hung == nil, let (worker, _) = await victim(sight, choice) else { return }
            stop(worker, for: duration, withEngine: withEngine)
            row.workersStopped += 1
        case .killRedis(let down, let cut):
            row.redisRestarts += 1
            try await killRedis(down: down, cut: cut)
        case .demoteRedis(let duration):
            guard (try? command("REPLICAOF", "127.0.0.1", "1")) != nil else { return }
            for place in recoveries.indices { recoveries[place].redisWentAway = true }
            row.demotions += 1
            later(duration, .promoteRedis)
        case .spoilSegment:
            guard let segment = finishedSegment(sight, choice), try spoil(segment, choice) else { return }
            row.segmentsHarmed += 1
        case .loseSegment(let withRecord):
            guard let segment = finishedSegment(sight, choice), unlink(segment) == 0 else { return }
            if withRecord { unlink(segment + ".json") }
            row.segmentsHarmed += 1
        case .loseFolder:
            guard !lostFolders.contains(job), rename(fleet.folder(job), fleet.fixture.path("lost")) == 0 else { return }
            lostFolders.insert(job)
            try FileManager.default.removeItem(atPath: fleet.fixture.path("lost"))
            row.foldersLost += 1
        case .closeStore(let duration, let error):
            guard closed == nil, hung == nil, let (worker, _) = await victim(sight, choice) else { return }
            closed = sicknesses[worker.pid]
            try closed?.setStoreError(error)
            row.storesClosed += 1
            later(duration, .openStore)
        case .setClock(let ofRedis, let ahead):
            if ofRedis {
                try redisSickness.setClock(ahead)
                for place in recoveries.indices { recoveries[place].redisWentAway = true }
            } else {
                guard let (worker, _) = await victim(sight, choice), let sickness = sicknesses[worker.pid] else {
                    return
                }
                try sickness.setClock(ahead)
            }
            row.clocksSet += 1
        case .weigh(let weight):
            let outcome = try await fleet.coordinator(["weigh", job, "--weight", "\(weight)"])
            // If Redis was away, or the job had ended, the record may have it or not.
            weights[job] = outcome.code == 0 ? weight : nil
            if outcome.code == 0 { row.jobsWeighed += 1 }
        case .rename(let number):
            // A job without its folder fails, and this would begin it again.
            guard !lostFolders.contains(job) else { return }
            let name = "name \(number)"
            let outcome = try await fleet.coordinator(["submit"] + submission + ["--name", name])
            // If Redis was away, the record may have it or not.
            names[job] = outcome.code == 0 ? name : nil
            if outcome.code == 0 { row.jobsRenamed += 1 }
        case .cancelAnother(let delay):
            guard let other = try await submitOther() else { return }
            others[other] = false
            later(delay, .cancel(job: other))
        case .hangStore(let duration):
            // One worker at least is well.
            guard hung == nil, closed == nil, stopped.isEmpty, let (worker, _) = await victim(sight, choice) else {
                return
            }
            hung = sicknesses[worker.pid]
            try hung?.setHang(true)
            row.storesHung += 1
            later(duration, .wakeStore)
        }
    }

    /// - Parameter cut: how many bytes of its log it forgets.
    func killRedis(down: Duration, cut: Int) async throws {
        try await fleet.killRedis()
        sight = nil
        if cut > 0 {
            row.logCut += try fleet.cutLog(by: cut)
            // A worker that has not heard of a cancellation may finish the job.
            others = others.mapValues { _ in false }
        }
        for place in recoveries.indices { recoveries[place].redisWentAway = true }
        later(down, .startRedis)
    }

    /// Another short job of a short file; nil if it is not acknowledged.
    private func submitOther() async throws -> String? {
        let source = fleet.fixture.path("other.mov")
        if !FileManager.default.fileExists(atPath: source) {
            let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
            try FileManager.default.copyItem(atPath: clip, toPath: source)
        }
        let options = ["--lossless", "--pass-frames", "\(10 + others.count)"]
        let outcome = try await fleet.coordinator(["submit", source] + options)
        return outcome.code == 0 ? outcome.output.trimmingCharacters(in: .newlines) : nil
    }

    /// Cancels one of those jobs, which may have ended.
    private func cancel(_ other: String) async throws {
        let outcome = try await fleet.coordinator(["cancel", other, "--json"])
        guard outcome.code == 0 else { return }
        if outcome.output.contains("\"cancelled\"") {
            others[other] = true
            row.othersCancelled += 1
        } else {
            row.othersDone += 1
        }
    }

    /// A worker on a machine of its own.
    func startWorker() async throws {
        let sickness = try await Sickness(fleet.fixture, fatal: Chaos.fatal)
        sicknesses[try await fleet.startWorker(sickness: sickness).pid] = sickness
    }

    /// The file of one of the passes that are recorded as done.
    private func finishedSegment(_ sight: BoardSight, _ choice: Int) -> String? {
        let tokens = Set(sight.done.values)
        let names = fleet.segments(job).filter { name in
            name.hasSuffix(".nut")
                && name.split(separator: ".").dropLast().last.map { tokens.contains(String($0)) } ?? false
        }
        return names.isEmpty ? nil : "\(fleet.folder(job))/segments/\(names.sorted()[choice % names.count])"
    }

    /// Inverts up to 64 bytes somewhere in a file; false if it has gone meanwhile.
    private func spoil(_ path: String, _ choice: Int) throws -> Bool {
        guard let file = FileHandle(forUpdatingAtPath: path) else { return false }
        defer { try? file.close() }
        let size = try file.seekToEnd()
        guard size > 0 else { return false }
        let place = UInt64(choice) &* 7919 % size
        try file.seek(toOffset: place)
        let bytes = try file.read(upToCount: 64) ?? Data()
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data(bytes.map { ~$0 }))
        return true
    }

    private func command(_ words: String...) throws -> String { try RawRedis(socket: fleet.socket).send(words) }

    /// Applies the planned fault to the assembly's holder, as soon as there is one.
    func disturbAssembly(_ sight: BoardSight) async {
        guard let holder = sight.live[sight.passes] else { return }
        switch assemblyFault {
        case .none: return
        case .kill(let delay): later(delay, .killAssembler(token: holder.token))
        case .stop(let duration, let withEngine):
            // Another worker may stand still already, or its store; then this assembly goes on.
            guard stopped.isEmpty, hung == nil, let worker = await worker(holder) else { break }
            stop(worker, for: duration, withEngine: withEngine)
            row.assemblersStopped += 1
        }
        assemblyFault = .none
    }

    func perform(_ act: Deferred) async throws {
        switch act {
        case .startWorker: try await startWorker()
        case .startRedis: try await fleet.startRedis()
        case .promoteRedis:
            // A Redis that was restarted meanwhile is not a replica, and the command changes nothing.
            _ = try? command("REPLICAOF", "NO", "ONE")
        case .openStore:
            try closed?.setStoreError(0)
            closed = nil
        case .wakeStore:
            try hung?.setHang(false)
            hung = nil
        case .cancel(let job): try await cancel(job)
        case .resume:
            for process in stopped { Glibc.kill(process, SIGCONT) }
            stopped = []
        case .killAssembler(let token):
            guard let sight, let holder = sight.live[sight.passes], holder.token == token,
                let worker = await worker(holder)
            else { return }
            try await kill(worker, sight, replacedAfter: .seconds(1))
            row.assemblersKilled += 1
        }
    }

    /// Checks which passes of killed workers other workers have by now.
    func follow(_ sight: BoardSight) {
        recoveries.removeAll { recovery in
            guard recovery.job == job else { return true }
            // It was recorded just before its worker died.
            if sight.done[recovery.index] == recovery.token { return true }
            let tokens = [sight.live, sight.copies].map { $0[recovery.index]?.token } + [sight.done[recovery.index]]
            guard tokens.contains(where: { $0 != nil && $0 != recovery.token }) else { return false }
            let seconds = (clock.now - recovery.since) / .seconds(1)
            if recovery.redisWentAway {
                row.recoveryWithRestart = max(row.recoveryWithRestart, seconds)
            } else {
                row.recovery = max(row.recovery, seconds)
            }
            return true
        }
    }

    private func kill(_ worker: Child, _ sight: BoardSight, replacedAfter delay: Duration) async throws {
        let held = sight.live.filter { $0.value.pid == worker.pid }
        let now = clock.now
        try await fleet.kill(worker)
        recoveries += held.map { Recovery(job: job, index: $0.key, token: $0.value.token, since: now) }
        later(delay, .startWorker)
    }

    private func stop(_ worker: Child, for duration: Duration, withEngine: Bool) {
        stopped = [worker.pid] + (withEngine ? worker.children("reel-engine") : [])
        for process in stopped { Glibc.kill(process, SIGSTOP) }
        later(duration, .resume)
    }

    private func later(_ delay: Duration, _ act: Deferred) { due.append((clock.now + delay, act)) }

    /// One of the workers that hold a pass and are not stopped, and that pass.
    private func victim(_ sight: BoardSight, _ choice: Int) async -> (Child, Int)? {
        let held = sight.live.sorted { $0.key < $1.key }
        var candidates: [(Child, Int)] = []
        for (index, holder) in held {
            guard let worker = await worker(holder), !stopped.contains(worker.pid) else { continue }
            candidates.append((worker, index))
        }
        return candidates.isEmpty ? nil : candidates[choice % candidates.count]
    }

    private func worker(_ holder: BoardSight.Holder) async -> Child? {
        await fleet.workers.first { $0.pid == holder.pid && $0.isRunning }
    }

    /// Whether one more crash ends no job, even if by now the worker has another pass than the board said.
    private func mayCrash(_ index: Int, _ sight: BoardSight) -> Bool {
        engineKills["\(job)/\(index)"] == nil && sight.crashes.allSatisfy { $0.value < 2 || sight.done[$0.key] != nil }
    }
}
